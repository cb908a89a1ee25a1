"""A published drive in words."""

from __future__ import annotations

from floatgate.published import Product
from floatgate.words import filled, page_width, size, table


def page(product: Product) -> str:
    """The models, the numbers of their own, the assumed values, and every fact with its role."""
    cached = any(model.cache is not None for model in product.models)
    rows = [["", "capacity", "flash", "dies", "spare / exported", *["SLC cache"] * cached]]
    for model in product.models:
        spare = f"{model.over_provisioning:.1%}".replace("%", " %")
        row = [model.name, size(model.capacity), size(model.raw), str(model.dies), spare]
        cache = model.cache
        if cached:
            both = cache and f"{cache.fixed / 1e9:g} + {cache.dynamic / 1e9:g} GB"
            row.append(both or "-")
        rows.append(row)
    parts = [product.product, table(rows)]
    given = {"Fitted": product.fitted, "Inherited": product.inherited, "Input": product.input}
    for title, own in given.items():
        if own:
            parts.append("\n".join([f"{title}:", *(f"  {k} = {v}" for k, v in own.items())]))
    model = product.models[0]
    lines = ["Assumed:"]
    for key in sorted(model.assumed - {"spare", "slc-cache", "write-limit"}):
        value = model.flash.get(key, model.controller.get(key))
        lines.append(f"  {key} = {value}")
    for each in product.models:
        if "write-limit" in each.assumed:
            lines.append(f"  write-limit of {each.name} = {each.write_limit:g}")
        if each.cache is not None and "slc-cache" in each.assumed:
            lines.append(f"  slc-cache of {each.name} = {size(each.cache.size)}")
    parts.append("\n".join(lines))
    for name in dict.fromkeys(fact.drive for fact in product.facts):
        rows = [["", "value", "role"]]
        rows += [
            [fact.what, f"{fact.value} {fact.unit}".strip(), fact.role]
            for fact in product.facts
            if fact.drive == name
        ]
        parts.append(f"{name}\n{table(rows)}")
    about = "`floatgate drives NAME --json` has conditions, sources and the drive file of each."
    parts.append(filled(about, page_width()))
    return "\n\n".join(parts)

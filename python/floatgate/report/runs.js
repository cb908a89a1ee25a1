  const { runs, numbers, settings } = JSON.parse(document.getElementById("data").textContent);

  // Tables of runs: a click on a heading sorts by its column, another one the other way.
  document.querySelectorAll("table.runs").forEach((table) => {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => head.firstChild.addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") !== "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const of = (row) => row.cells[column].dataset.value;
      const body = table.tBodies[0];
      [...body.rows]
        .sort((r, s) => (of(r) === "") - (of(s) === "") || (up ? 1 : -1) * (of(r) - of(s)))
        .forEach((row) => body.append(row));
    }));
  });

  const element = (name, text, values = {}) =>
    Object.assign(document.createElement(name), { textContent: text, ...values });

  const time = (ns) => {
    const units = [["d", 86400e9], ["h", 3600e9], ["s", 1e9], ["ms", 1e6], ["us", 1e3]];
    const [unit, one] = units.find(([, length]) => Math.abs(ns) >= length) || ["ns", 1];
    return `${+(ns / one).toPrecision(4)} ${unit}`;
  };
  const shown = (path, value) => {
    if (value === null || value === undefined) return "–";
    if (typeof value !== "number") return String(value);
    if (/_ns(\.|_|$)/.test(path)) return time(value);
    const large = [["T", 1e12], ["G", 1e9], ["M", 1e6]].find(([, one]) => Math.abs(value) >= one);
    if (large) return `${+(value / large[1]).toPrecision(4)} ${large[0]}`;
    return Number.isInteger(value) ? value.toLocaleString("en") : String(+value.toPrecision(4));
  };
  const ratio = (a, b) => {
    if (typeof a !== "number" || typeof b !== "number" || a === 0) return null;
    return b / a;
  };

  // The value of a path in a run: what all runs share stands once.
  const value = (table, path, run) => path in table.own ? table.own[path][run] : table.same[path];

  const fill = (id, table, a, b, words, only, compare) => {
    let rows = [...Object.keys(table.own), ...(only ? [] : Object.keys(table.same))]
      .map((path) => ({ path, a: value(table, path, a), b: value(table, path, b) }))
      .filter((row) => !only || row.a !== row.b)
      .filter((row) => words.every((word) => row.path.toLowerCase().includes(word)));
    if (compare) {
      // What changed most comes first; what one of them lacks, or has none of, before that.
      const size = ({ a, b }) => {
        const by = ratio(a, b);
        return a === b ? 0 : by === null || by <= 0 ? Infinity : Math.abs(Math.log(by));
      };
      const sizes = new Map(rows.map((row) => [row, size(row)]));
      rows.sort((r, s) => (sizes.get(s) > sizes.get(r)) - (sizes.get(s) < sizes.get(r)));
    }
    const target = document.getElementById(id);
    target.replaceChildren();
    const head = target.createTHead().insertRow();
    const titles = compare ? ["number", "A", "B", "B / A"] : ["setting", "A", "B"];
    head.append(...titles.map((title) => element("th", title)));
    const body = target.createTBody();
    for (const row of rows) {
      const line = body.insertRow();
      const by = ratio(row.a, row.b);
      line.append(
        element("th", row.path, { scope: "row" }),
        element("td", shown(row.path, row.a), { title: row.a }),
        element("td", shown(row.path, row.b), { title: row.b }),
        ...(compare ? [element("td", by === null ? "" : String(+by.toPrecision(4)))] : []),
      );
    }
    if (!rows.length) {
      const cell = element("td", "Nothing differs here.", { colSpan: titles.length });
      body.insertRow().append(cell);
    }
  };

  if (document.getElementById("two")) {
    const [a, b, filter, differ] = ["a", "b", "filter", "differ"].map((id) => document.getElementById(id));
    for (const select of [a, b]) {
      select.append(...runs.map((run, i) => element("option", `${i + 1}: ${run.variant}`, { value: i })));
    }
    b.value = 1;
    const show = () => {
      const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
      fill("settings", settings, +a.value, +b.value, words, differ.checked, false);
      fill("numbers", numbers, +a.value, +b.value, words, differ.checked, true);
    };
    for (const control of [a, b, filter, differ]) control.addEventListener("input", show);
    show();
  }

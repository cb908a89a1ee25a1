  let runs, numbers, settings;

  // Tables of runs: a click on a heading sorts by its column, another one the other way. A
  // sorted table stays sorted when it is renewed.
  const sorted = new Map();
  const of = (row, column) => {
    const { dataset, textContent } = row.cells[column];
    return dataset.value === undefined ? textContent.trim() : dataset.value;
  };
  const order = (a, b) => (a === "") - (b === "")
    || (isNaN(a) || isNaN(b) ? a.localeCompare(b, "en", { numeric: true }) : a - b);
  const sortTable = (table, column, up) => {
    [...table.tHead.rows[0].cells].forEach((head, i) =>
      head.setAttribute("aria-sort", i !== column ? "none" : up ? "ascending" : "descending"));
    const body = table.tBodies[0];
    const last = (row) => of(row, column) === "";
    [...body.rows]
      .sort((r, s) => last(r) - last(s) || (up ? 1 : -1) * order(of(r, column), of(s, column)))
      .forEach((row) => body.append(row));
  };
  const sortable = () => document.querySelectorAll("table.runs").forEach((table) => {
    const name = table.caption ? table.caption.textContent : "";
    [...table.tHead.rows[0].cells].forEach((head, column) =>
      head.querySelector("button").addEventListener("click", () => {
        const up = head.getAttribute("aria-sort") !== "ascending";
        sorted.set(name, [column, up]);
        sortTable(table, column, up);
      }));
    if (name && sorted.has(name)) sortTable(table, ...sorted.get(name));
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
    if (value && Math.abs(value) < 1e-3) return value.toExponential(1); // its place is narrow
    return Number.isInteger(value) ? value.toLocaleString("en") : String(+value.toPrecision(4));
  };
  const ratio = (a, b) => {
    if (typeof a !== "number" || typeof b !== "number" || a === 0) return null;
    return b / a;
  };

  // The value of a path in a run: values that all runs share are stored once.
  const value = (table, path, run) => path in table.own ? table.own[path][run] : table.same[path];

  const fill = (id, table, a, b, words, only, compare) => {
    let rows = [...Object.keys(table.own), ...(only ? [] : Object.keys(table.same))]
      .map((path) => ({ path, a: value(table, path, a), b: value(table, path, b) }))
      .filter((row) => !only || row.a !== row.b)
      .filter((row) => words.every((word) => row.path.toLowerCase().includes(word)));
    if (compare) {
      // Values that one of them lacks, or that are zero in one, come first, then the greatest changes.
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

  // The two that stand side by side; those that were chosen before stay chosen.
  const chosen = {};
  const sideBySide = () => {
    if (!document.getElementById("two")) return;
    const [a, b, filter, differ] = ["a", "b", "filter", "differ"].map((id) => document.getElementById(id));
    [a, b].forEach((select, i) => {
      select.append(...runs.map((run, i) => element("option", `${i + 1}: ${run.variant}`, { value: i })));
      const before = runs.findIndex((run) => run.id === chosen[select.id]);
      select.value = before < 0 ? i : before;
    });
    if ("filter" in chosen) [filter.value, differ.checked] = [chosen.filter, chosen.differ];
    const show = () => {
      const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
      fill("settings", settings, +a.value, +b.value, words, differ.checked, false);
      fill("numbers", numbers, +a.value, +b.value, words, differ.checked, true);
    };
    const choose = () => {
      Object.assign(chosen, { a: runs[a.value].id, b: runs[b.value].id, filter: filter.value, differ: differ.checked });
      show();
    };
    for (const control of [a, b, filter, differ]) control.addEventListener("input", choose);
    show();
  };

  const showRuns = (data) => {
    ({ runs, numbers, settings } = data);
    sortable();
    sideBySide();
  };

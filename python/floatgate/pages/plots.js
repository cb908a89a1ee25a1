  // The width of the longest of some texts, in the font of the page as it is here.
  const pen = document.createElement("canvas").getContext("2d");
  const longest = (texts) => {
    pen.font = `12px ${getComputedStyle(document.body).fontFamily}`;
    return Math.max(0, ...texts.map((text) => Math.ceil(pen.measureText(text).width)));
  };
  // The theme belongs to the page, which knows how wide it is, and whether it is light or dark.
  const theme = (width, { labels = [], places = [] }) => {
    const style = getComputedStyle(document.documentElement);
    const color = (name) => style.getPropertyValue(name).trim();
    const [ink, soft, line, card, accent] = ["--ink", "--soft", "--line", "--card", "--accent"].map(color);
    // Legends begin where the axis ends, beside its words or numbers. As many columns as fit, and
    // rows of one length.
    const room = width - longest(places.length ? places : ["0".repeat(8)]);
    const fitting = Math.max(1, Math.floor(room / (longest(labels) + 32)));
    const columns = Math.ceil(labels.length / Math.ceil(labels.length / fitting));
    return {
      background: "transparent",
      font: getComputedStyle(document.body).fontFamily,
      view: { stroke: null },
      axis: {
        labelColor: soft, titleColor: soft, titleFontWeight: "normal", gridColor: line,
        domainColor: line, tickColor: line, labelFontSize: 12, titleFontSize: 12, labelSeparation: 8,
      },
      // A first number beside the upright axis stays below that axis's last number.
      axisX: { labelPadding: 5 },
      axisY: { labelLimit: Math.max(120, 0.45 * width) },
      legend: {
        labelColor: ink, labelFontSize: 12, titleColor: soft, titleFontWeight: "normal",
        orient: "bottom",
        // On a narrow page, two legends of a plot stand below each other.
        ...(width < 600 ? { layout: { bottom: { direction: "vertical", anchor: "start" } } } : {}),
        symbolStrokeWidth: 2.5, symbolSize: 70, labelLimit: room - 32,
        titleLimit: room,
        ...(labels.length ? { columns } : {}),
      },
      line: { color: accent },
      bar: { color: accent },
      rule: { color: ink },
      tick: { color: ink },
      point: { color: accent, strokeWidth: 1.75 },
      style: { inside: { color: card }, beside: { color: ink }, unity: { color: ink } },
      range: {
        category: PALETTES[dark.matches ? "dark" : "light"],
        ordinal: { scheme: "viridis", extent: dark.matches ? [0.35, 1] : [0, 0.8] },
      },
    };
  };
  // Enter and Space on an entry of a legend do the same as a click, and they select several together.
  const keys = (plot, view) => {
    if (!("chosen" in view.getState({ signals: () => true }).signals)) return;
    const entries = [...plot.querySelectorAll(".role-legend-label text")];
    const say = (chosen) => {
      const [values = []] = Object.values(chosen || {}).filter(Array.isArray);
      for (const entry of entries)
        entry.setAttribute("aria-pressed", values.map(String).includes(entry.__data__.datum.value + ""));
    };
    for (const entry of entries) {
      entry.setAttribute("tabindex", "0");
      entry.setAttribute("role", "button");
      entry.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        entry.dispatchEvent(new MouseEvent("click", { bubbles: true, shiftKey: true }));
      });
    }
    view.addSignalListener("chosen", (_, chosen) => say(chosen));
    say(view.signal("chosen"));
  };
  const place = (i) => document.getElementById(`plot-${i + 1}`);
  // A plot that is folded away is drawn when its details open.
  const done = new Map();
  const draw = () => Promise.all(specs.map((spec, i) => {
    if (done.has(i) || place(i).closest("details:not([open])")) return done.get(i);
    const themed = { ...spec, config: theme(place(i).clientWidth, spec.usermeta || {}) };
    const actions = { export: true, source: false, compiled: false, editor: false };
    done.set(i, vegaEmbed(`#plot-${i + 1}`, themed, { renderer: "svg", actions })
      .then(({ view }) => keys(place(i), view)));
    return done.get(i);
  }));
  // Plots fit themselves into their width; how legends and labels are set depends on it as well.
  const drawThese = (some) => { specs = some; done.clear(); drawVisible(); };
  addDrawing(draw, () => done.clear());

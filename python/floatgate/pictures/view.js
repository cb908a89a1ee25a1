  // Pictures of drives: each reads the packed columns beside it and draws on two canvases.
  {
    const NONE = 0xffffffff;
    const HINT = "Point at a block to see its numbers.";
    const unpack = async (text, kind) => {
      const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
      const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
      return new kind(await new Response(stream).arrayBuffer());
    };
    const palette = () => dark.matches
      ? { valid: [106, 169, 255], invalid: [232, 138, 60], free: [70, 80, 93], bad: [255, 84, 112], paper: [27, 32, 39], ink: "#9aa5b4", mark: "#ffffff" }
      : { valid: [31, 111, 209], invalid: [226, 135, 44], free: [208, 214, 220], bad: [176, 0, 48], paper: [255, 255, 255], ink: "#5b6675", mark: "#000000" };
    const RAMP = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];
    const words = () => PALETTES[dark.matches ? "dark" : "light"].map((hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16)));
    const mix = (a, b, t) => a.map((v, i) => Math.round(v + (b[i] - v) * t));
    const ramp = (t) => {
      const at = Math.max(0, Math.min(1, t)) * (RAMP.length - 1), i = Math.min(Math.floor(at), RAMP.length - 2);
      return mix(RAMP[i], RAMP[i + 1], at - i);
    };
    const css = (c) => `rgb(${c.join(",")})`;
    const duration = (ns) => {
      for (const [unit, size] of [["d", 864e11], ["h", 36e11], ["min", 6e10], ["s", 1e9], ["ms", 1e6], ["us", 1e3]])
        if (ns >= size) return `${(ns / size).toPrecision(4)} ${unit}`;
      return `${ns} ns`;
    };
    const MEASURES = {
      pages: "pages: valid, invalid, free", erases: "wear: erases",
      reads_since_erase: "reads since erase", mode: "mode", state: "state", role: "role",
    };

    class Picture {
      constructor(root) {
        this.root = root;
        this.data = JSON.parse(root.querySelector(".picture").textContent);
        this.find = (name) => root.querySelector(name);
        this.frame = -1;
        this.only = null;
        this.ready = this.load();
      }

      async load() {
        const d = this.data;
        this.cells = d.channels * d.chips * d.dies * d.planes * d.blocks;
        this.cell = await unpack(d.cell, Uint32Array);
        this.rows = {}, this.now = {};
        for (const [name, text] of Object.entries(d.numbers)) {
          this.rows[name] = await unpack(text, Uint32Array);
          this.now[name] = new Uint32Array(this.cells);
        }
        for (const [name, text] of Object.entries(d.codes)) {
          this.rows[name] = await unpack(text, Uint8Array);
          this.now[name] = new Uint8Array(this.cells);
        }
        this.busy = {};
        for (const part of ["die", "channel"]) {
          if (!d.busy[part]) continue;
          this.busy[part] = {};
          for (const [source, text] of Object.entries(d.busy[part])) this.busy[part][source] = await unpack(text, Uint8Array);
        }
        this.greatest = {};
        for (const name of ["erases", "reads_since_erase"]) {
          let low = Infinity, high = 0;
          for (const v of this.rows[name]) if (v !== NONE) { if (v < low) low = v; if (v > high) high = v; }
          this.greatest[name] = [Math.min(low, high), high];
        }
        this.offer();
        this.tell(null);
        this.show(d.times.length - 1);
      }

      offer() {
        const option = (select, value, text) => select.add(new Option(text, value));
        const measure = this.find(".measure");
        for (const [name, text] of Object.entries(MEASURES)) {
          if (name === "reads_since_erase" && this.rows[name].every((v) => v === NONE)) continue;
          if (this.data.words[name] && new Set(this.rows[name]).size < 2) continue;
          option(measure, name, text);
        }
        const source = this.find(".source");
        const parts = this.busy.die || {};
        for (const name of Object.keys(parts)) option(source, name, name === "all" ? "all sources" : name);
        const slider = this.find(".instant");
        slider.max = this.data.times.length - 1;
        slider.addEventListener("input", () => this.show(+slider.value));
        this.at = null;
        measure.addEventListener("input", () => this.draw());
        source.addEventListener("input", () => this.draw());
        this.find(".whole").addEventListener("click", () => { this.only = null; this.draw(); });
        this.find(".play").addEventListener("click", () => this.play());
        const map = this.find(".map"), busy = this.find(".busy");
        map.addEventListener("pointermove", (event) => this.tell(this.under(event)));
        map.addEventListener("click", (event) => {
          const cell = this.under(event);
          if (cell === null) return;
          this.only = this.only === null ? Math.floor(cell / (this.data.planes * this.data.blocks)) : null;
          this.draw();
        });
        map.addEventListener("keydown", (event) => this.key(event));
        map.addEventListener("focus", () => this.draw());
        map.addEventListener("blur", () => this.draw());
        busy.addEventListener("keydown", (event) => {
          const last = this.data.times.length - 1;
          const to = { ArrowLeft: this.frame - 1, ArrowRight: this.frame + 1, Home: 0, End: last }[event.key];
          if (to === undefined) return;
          event.preventDefault();
          this.show(Math.max(0, Math.min(last, to)));
        });
        busy.addEventListener("click", (event) => {
          const share = event.offsetX / busy.clientWidth, { times } = this.data;
          const at = times[0] + share * (times[times.length - 1] - times[0]);
          this.show(Math.max(0, times.findIndex((t) => t >= at)));
        });
      }

      // Arrows go from a block to the next one that is drawn in that direction.
      key(event) {
        const by = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
        const per = this.data.planes * this.data.blocks;
        if (by) {
          if (this.at === null || !this.box(this.at)) this.at = (this.only || 0) * per;
          else {
            const [x, y, size] = this.box(this.at), reach = this.l.dot + this.l.gap + 2;
            for (let i = 1; i < this.l.wide + reach; i++) {
              const cell = this.cellAt(x + size / 2 + by[0] * i, y + size / 2 + by[1] * i);
              if (cell !== null && cell !== this.at) { this.at = cell; break; }
            }
          }
        } else if (event.key === "Enter" && this.at !== null) this.only = this.only === null ? Math.floor(this.at / per) : null;
        else if (event.key === "Escape") this.only = null;
        else return;
        event.preventDefault();
        this.draw();
        this.tell(this.at);
      }

      // The place of a block, if it is drawn: from the left, from above, and its size.
      box(cell) {
        const l = this.l, d = this.data, die = Math.floor(cell / d.blocks / d.planes);
        if (this.only !== null && die !== this.only) return null;
        const plane = Math.floor(cell / d.blocks) % d.planes, block = cell % d.blocks, [column, row] = this.place(l, die);
        return [
          column * (l.wide + l.gap) + plane * (l.plane + l.between) + (block % l.across) * l.dot,
          row * (l.down * l.dot + l.gap) + Math.floor(block / l.across) * l.dot,
          l.dot,
        ];
      }

      // The drive at an instant: the changes up to it, from the first on if time goes back.
      show(frame) {
        const { counts } = this.data;
        if (frame < this.frame || this.frame < 0) { this.frame = -1; this.row = 0; }
        const first = this.row, last = counts.slice(0, frame + 1).reduce((a, b) => a + b, 0);
        for (const [name, column] of Object.entries(this.rows)) {
          const now = this.now[name];
          for (let row = first; row < last; row++) now[this.cell[row]] = column[row];
        }
        this.row = last;
        this.frame = frame;
        this.find(".instant").value = frame;
        this.find("output").textContent = duration(this.data.times[frame]);
        this.draw();
      }

      play() {
        const button = this.find(".play");
        if (this.timer) { clearInterval(this.timer); this.timer = 0; button.textContent = "play"; return; }
        button.textContent = "stop";
        if (this.frame === this.data.times.length - 1) this.show(0);
        this.timer = setInterval(() => {
          if (this.frame >= this.data.times.length - 1) this.play(); else this.show(this.frame + 1);
        }, 120);
      }

      // The places of dies and blocks: the largest dots with which the map is not too high.
      layout(width) {
        const d = this.data, dies = d.channels * d.chips * d.dies;
        const shown = this.only === null ? dies : 1;
        const high = this.only === null ? Math.max(560, Math.min(760, 1.2 * width)) : 640;
        let columns = this.only === null ? d.channels : 1;
        const gap = 4, between = 1;
        while (columns > 1 && (width - gap * (columns - 1)) / columns / d.planes < 6) columns = Math.ceil(columns / 2);
        const wide = Math.floor((width - gap * (columns - 1)) / columns);
        const plane = Math.max(1, Math.floor((wide - between * (d.planes - 1)) / d.planes));
        let best = null;
        for (let dot = 24; dot >= 1; dot--) {
          const across = Math.max(1, Math.floor(plane / dot)), down = Math.ceil(d.blocks / across);
          const rows = Math.ceil(shown / columns);
          best = { dot, across, down, rows, height: rows * (down * dot + gap) };
          if (best.height <= high) break;
        }
        return { ...best, columns, wide, plane, gap, between, shown };
      }

      // Dies are numbered across the channels: those of a channel lie below each other, unless a
      // row of dies is too long for the page.
      place(l, index) {
        return this.only !== null ? [0, 0] : [index % l.columns, Math.floor(index / l.columns)];
      }

      // A folded map has no width: it is drawn when it is shown.
      draw() {
        if (!this.find(".map").clientWidth) return;
        this.drawMap();
        this.drawBusy();
      }

      // Labels of an axis: places in pixels, and the text of each. Those that would touch the one
      // before are left out, as measured in the font of the page; the last one of an axis stays.
      label(name, marks, upright, keepLast = false) {
        const axis = this.find(name), shown = marks.map(([at, text, from]) => {
          const span = document.createElement("span");
          span.textContent = text;
          span.style[upright ? "top" : "left"] = `${at}px`;
          if (!upright && from) span.style.transform = `translateX(-${from}%)`;
          return span;
        });
        axis.replaceChildren(...shown);
        const [low, high, room] = upright ? ["top", "bottom", 1] : ["left", "right", 6];
        const boxes = shown.map((span) => span.getBoundingClientRect());
        const limit = keepLast ? boxes[boxes.length - 1][low] - room : Infinity;
        let free = -Infinity;
        shown.forEach((span, i) => {
          const last = keepLast && i === shown.length - 1;
          if (!last && (boxes[i][low] < free || boxes[i][high] > limit)) span.remove();
          else free = boxes[i][high] + room;
        });
      }

      drawMap() {
        const canvas = this.find(".map"), d = this.data, p = palette();
        const width = Math.max(120, Math.floor(canvas.clientWidth));
        const l = this.l = this.layout(width);
        canvas.width = width;
        canvas.height = l.height;
        canvas.style.height = `${l.height}px`;
        const context = canvas.getContext("2d");
        const image = context.createImageData(width, l.height);
        const pixels = new Uint32Array(image.data.buffer);
        const pack = (c) => 0xff000000 | (c[2] << 16) | (c[1] << 8) | c[0];
        const measure = this.find(".measure").value;
        const colour = this.colours(measure, p);
        const per = d.planes * d.blocks, bad = d.words.state.indexOf("bad");
        const [valid, invalid, free] = [p.valid, p.invalid, p.free].map(pack);
        for (let shown = 0; shown < l.shown; shown++) {
          const die = this.only === null ? shown : this.only;
          const [column, row] = this.place(l, die);
          const left = column * (l.wide + l.gap), top = row * (l.down * l.dot + l.gap);
          for (let plane = 0; plane < d.planes; plane++) {
            const x0 = left + plane * (l.plane + l.between);
            for (let block = 0; block < d.blocks; block++) {
              const cell = die * per + plane * d.blocks + block;
              const x = x0 + (block % l.across) * l.dot, y = top + Math.floor(block / l.across) * l.dot;
              const line = l.dot > 3 ? 1 : 0, size = l.dot - line;
              if (measure === "pages" && l.dot >= 6 && this.now.state[cell] !== bad) {
                const [a, b] = this.shares(cell), h1 = Math.round(a * size), h2 = Math.round((a + b) * size);
                for (let dy = 0; dy < size; dy++) {
                  const from = size - 1 - dy;
                  const c = from < h1 ? valid : from < h2 ? invalid : free;
                  pixels.fill(c, (y + dy) * width + x, (y + dy) * width + x + size);
                }
              } else {
                const c = pack(colour(cell));
                for (let dy = 0; dy < size; dy++) pixels.fill(c, (y + dy) * width + x, (y + dy) * width + x + size);
              }
            }
          }
        }
        context.putImageData(image, 0, 0);
        const marked = this.at !== null && document.activeElement === canvas ? this.box(this.at) : null;
        if (marked) {
          const [x, y, size] = marked;
          context.strokeStyle = p.mark;
          context.lineWidth = 2;
          context.strokeRect(x - 1, y - 1, size + 2, size + 2);
        }
        const whole = this.only === null, straight = whole && l.columns === d.channels;
        const numbered = (n, step) => Array.from({ length: n }, (_, i) => [i * step, `${i}`]);
        const columns = whole ? numbered(l.columns, l.wide + l.gap) : [[0, `${this.only % d.channels}`]];
        this.label(".channels", columns.map(([at, text]) => [at, `channel ${text}`]), false);
        const rows = whole ? numbered(l.rows, l.down * l.dot + l.gap) : [[0, `${Math.floor(this.only / d.channels)}`]];
        this.label(".dies", straight || !whole ? rows : [], true);
        if (!straight && whole) this.find(".channels").replaceChildren();
        this.find(".corner").textContent = straight || !whole ? "die" : "";
        this.find(".whole").hidden = this.only === null;
        this.legend(measure, p);
      }

      shares(cell) {
        const d = this.data;
        const slots = d.slots[d.words.mode[this.now.mode[cell]]] || d.slots.full || 1;
        const written = Math.min(1, this.now.written_slots[cell] / slots);
        const valid = Math.min(written, this.now.valid_slots[cell] / slots);
        return [valid, written - valid];
      }

      colours(measure, p) {
        const bad = this.data.words.state.indexOf("bad"), { state } = this.now;
        if (measure === "pages") return (cell) => {
          if (state[cell] === bad) return p.bad;
          const [valid, invalid] = this.shares(cell), free = 1 - valid - invalid;
          return p.free.map((v, i) => Math.round(v * free + p.valid[i] * valid + p.invalid[i] * invalid));
        };
        const now = this.now[measure];
        if (this.data.words[measure]) return (cell) => (measure === "state" && now[cell] === bad ? p.bad : this.word(measure, now[cell], p));
        const [low, high] = this.greatest[measure], span = Math.max(1, high - low);
        return (cell) => (state[cell] === bad ? p.bad : now[cell] === NONE ? p.free : ramp((now[cell] - low) / span));
      }

      word(measure, code, p) {
        return code === 0 ? p.free : words()[(code - 1) % words().length];
      }

      legend(measure, p) {
        const d = this.data, legend = this.find(".legend");
        const swatch = (colour, text) => {
          const span = document.createElement("span"), i = document.createElement("i");
          i.style.background = css(colour);
          span.append(i, text);
          return span;
        };
        const gradient = (low, high) => {
          const span = document.createElement("span"), i = document.createElement("i");
          i.className = "ramp";
          i.style.background = `linear-gradient(to right, ${RAMP.map(css).join(",")})`;
          span.append(low, i, high);
          return span;
        };
        const anyBad = this.now.state.includes(d.words.state.indexOf("bad"));
        if (measure === "pages") legend.replaceChildren(swatch(p.valid, "valid"), swatch(p.invalid, "invalid"), swatch(p.free, "free"));
        else if (d.words[measure]) {
          const there = new Set(this.rows[measure]);
          legend.replaceChildren(...d.words[measure].flatMap((text, code) =>
            there.has(code) && text !== "bad" ? [swatch(this.word(measure, code, p), text)] : []));
        } else {
          const [low, high] = this.greatest[measure];
          legend.replaceChildren(gradient(`${low}`, `${high}`));
        }
        if (anyBad) legend.append(swatch(p.bad, "bad"));
        this.find(".legend.scale").replaceChildren(gradient("idle", "busy all the time"));
      }

      under(event) {
        return this.cellAt(event.offsetX, event.offsetY);
      }

      cellAt(x, y) {
        const l = this.l, d = this.data;
        if (x < 0 || y < 0 || x >= l.columns * (l.wide + l.gap)) return null;
        const column = Math.floor(x / (l.wide + l.gap)), row = Math.floor(y / (l.down * l.dot + l.gap));
        let die = this.only;
        if (die === null) {
          if (column >= l.columns) return null;
          die = row * l.columns + column;
        } else if (column > 0 || row > 0) return null;
        const dx = x - column * (l.wide + l.gap), dy = y - row * (l.down * l.dot + l.gap);
        const plane = Math.floor(dx / (l.plane + l.between));
        const across = Math.floor((dx - plane * (l.plane + l.between)) / l.dot);
        const block = Math.floor(dy / l.dot) * l.across + across;
        if (plane < 0 || plane >= d.planes || across >= l.across || block < 0 || block >= d.blocks) return null;
        const cell = (die * d.planes + plane) * d.blocks + block;
        return cell < this.cells ? cell : null;
      }

      tell(cell) {
        this.find(".detail").textContent = cell === null ? HINT : this.describe(cell);
      }

      describe(cell) {
        const d = this.data, now = this.now;
        const block = cell % d.blocks, plane = Math.floor(cell / d.blocks) % d.planes;
        const die = Math.floor(cell / d.blocks / d.planes), channel = die % d.channels;
        const chip = Math.floor(die / d.channels / d.dies), inChip = Math.floor(die / d.channels) % d.dies;
        const word = (name) => d.words[name][now[name][cell]];
        const mode = word("mode"), slots = d.slots[mode] || d.slots.full;
        const valid = now.valid_slots[cell], written = now.written_slots[cell];
        const reads = now.reads_since_erase[cell];
        const where = `channel ${channel}, chip ${chip}, die ${inChip}, plane ${plane}, `
          + (d.group > 1 ? `blocks ${block * d.group} to ${(block + 1) * d.group - 1}` : `block ${block}`);
        return `${where}: ${word("state")}, mode ${mode}, role ${word("role")}; ${valid} valid, ${Math.max(0, written - valid)} invalid, `
          + `${Math.max(0, slots - written)} free of ${slots} pages; ${now.erases[cell]} erases`
          + (reads === NONE ? "" : `, ${reads} reads since erase`);
      }

      drawBusy() {
        const canvas = this.find(".busy"), d = this.data, p = palette();
        const width = Math.max(120, Math.floor(canvas.clientWidth));
        const source = this.find(".source").value || "all";
        const parts = ["die", "channel"].filter((part) => this.busy[part]);
        const units = { die: d.channels * d.chips * d.dies, channel: d.channels };
        const { starts } = d.busy, end = d.times[d.times.length - 1], span = Math.max(1, end - starts[0]);
        const lines = parts.reduce((sum, part) => sum + units[part], 0);
        const high = Math.max(2, Math.min(14, Math.floor(320 / Math.max(1, lines))));
        const gap = 6;
        canvas.width = width;
        canvas.height = Math.max(1, lines * high + gap * Math.max(0, parts.length - 1));
        canvas.style.height = `${canvas.height}px`;
        const context = canvas.getContext("2d");
        let top = 0;
        for (const part of parts) {
          const shares = this.busy[part][part === "die" ? source : "all"];
          for (let i = 0; shares && i < starts.length; i++) {
            const x = Math.round((starts[i] - starts[0]) / span * width);
            const to = Math.round(((i + 1 < starts.length ? starts[i + 1] : end) - starts[0]) / span * width);
            for (let unit = 0; unit < units[part]; unit++) {
              context.fillStyle = css(ramp(shares[i * units[part] + unit] / 255));
              context.fillRect(x, top + unit * high, Math.max(1, to - x), high > 3 ? high - 1 : high);
            }
          }
          top += units[part] * high + gap;
        }
        const rows = parts.flatMap((part, i) => Array.from({ length: units[part] }, (_, unit) => [
          (i ? units[parts[0]] * high + gap : 0) + unit * high, `${part === "die" ? "" : "ch "}${unit}`]));
        this.label(".units", rows, true);
        const ticks = Math.max(1, Math.min(8, Math.floor(width / 110)));
        const { times } = d, long = this.find(".instant").clientWidth;
        const steps = Math.max(1, Math.min(6, Math.floor(long / 110), times.length - 1));
        this.label(".instants", Array.from({ length: steps + 1 }, (_, i) => [
          i / steps * long, duration(times[Math.round(i / steps * (times.length - 1))]), 100 * i / steps]), false, true);
        this.label(".times", Array.from({ length: ticks + 1 }, (_, i) => [
          i / ticks * width, duration(starts[0] + i / ticks * span), 100 * i / ticks]), false, true);
        const at = (d.times[this.frame] - starts[0]) / span * width;
        context.fillStyle = p.mark;
        context.fillRect(Math.min(width - 2, Math.max(0, at - 1)), 0, 2, canvas.height);
      }
    }

    window.pictures = [...document.querySelectorAll(".drive")].map((root) => new Picture(root));
    addDrawing(() => Promise.all(window.pictures.map((picture) => picture.ready.then(() => picture.draw()))));
  }

  // The page asks for news, and draws them from the parts of a report.
  const [where, set, content, wrong, count] = ["where", "set", "content", "wrong", "count"].map((id) => document.getElementById(id));
  let seen = "", waitingFor = 0, asking = 0;

  const showStanding = (standing) => {
    document.getElementById("standing").hidden = !standing;
    if (!standing) return;
    const { runs: all, finished, failed, share, ended } = standing;
    document.getElementById("share").value = ended ? 1 : share;
    const failures = failed ? `, ${failed} of them failed` : "";
    const said = ended ? `ended: ${finished} of ${all} runs${failures}`
      : `${finished} of ${all} runs done${failures}; ${Math.floor(100 * share)} % of the work`;
    const place = document.getElementById("said");
    if (place.textContent !== said) place.textContent = said;
  };
  const showSets = (sets, chosenSet) => {
    document.getElementById("sets").hidden = sets.length < 2;
    const options = sets.map(({ name, runs: n }) => [name, `${name} (${n})`]);
    const said = JSON.stringify(options);
    if (set.dataset.said !== said) {
      set.dataset.said = said;
      set.replaceChildren(...options.map(([value, text]) => new Option(text, value)));
    }
    set.value = chosenSet;
  };
  const showContent = async (state) => {
    const focused = document.activeElement && document.activeElement.id;
    content.style.minHeight = `${content.offsetHeight}px`;
    content.innerHTML = state.content;
    drawThese(state.specs);
    if (state.data.runs.length) showRuns(state.data);
    if (focused && document.activeElement.id !== focused) {
      const again = document.getElementById(focused);
      if (again) again.focus({ preventScroll: true });
    }
    await window.drawn;
    content.style.minHeight = "";
  };
  const show = async (state) => {
    showStanding(state.standing);
    showSets(state.sets, state.set);
    const problems = [state.wrong, ...state.problems].filter(Boolean);
    wrong.hidden = !problems.length;
    wrong.textContent = problems.join("\n");
    if (state.wrong || state.digest === seen) return;
    seen = state.digest;
    count.textContent = !state.of ? "No run is stored here yet."
      : state.shown ? `Shown: ${state.shown} of ${state.of} runs.` : `None of ${state.of} runs is like that.`;
    const whole = document.getElementById("whole");
    whole.hidden = !state.shown;
    whole.href = `report?${new URLSearchParams({ set: state.set, where: where.value })}`;
    await showContent(state);
  };
  const ask = async () => {
    const mine = ++asking;
    clearTimeout(waitingFor);
    let wait = 1000;
    try {
      const question = new URLSearchParams({ where: where.value, set: set.value, seen });
      const answer = await fetch(`state?${question}`);
      const state = await answer.json();
      if (mine !== asking) return;
      await show(state);
      // Drawing for readers may not take resources from the runs.
      wait = Math.max(wait, 5000 * (state.seconds || 0));
    } catch {
      if (mine !== asking) return;
      wrong.hidden = false;
      wrong.textContent = "floatgate has ended, or does not answer: this is its last message.";
      wait = 5000;
    }
    waitingFor = setTimeout(ask, document.hidden ? 5 * wait : wait);
  };
  let typing = 0;
  where.addEventListener("input", () => { clearTimeout(typing); typing = setTimeout(ask, 250); });
  set.addEventListener("input", ask);
  document.getElementById("ask").addEventListener("submit", (event) => { event.preventDefault(); ask(); });
  ask();

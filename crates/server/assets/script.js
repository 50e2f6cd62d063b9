// What a question would cost, while it is typed. Without this script the button "What would it cost?" does the same.
"use strict";

const form = document.getElementById("question");
const section = document.getElementById("plan");

/** The document of the question as the form has it; empty fields are left out. */
function question() {
  const said = {};
  for (const [name, value] of new FormData(form)) {
    const text = value.trim();
    if (text === "") continue;
    said[name] = ["keys", "among", "group_by"].includes(name) ? text.split(",").map((one) => one.trim()) : text;
  }
  return said;
}

/** One line in the section of the plan. Text only: names of columns are somebody else's. */
function line(text, kind) {
  const paragraph = document.createElement("p");
  paragraph.textContent = text;
  if (kind) paragraph.className = kind;
  return paragraph;
}

function priced(loss) {
  return loss.delta === "0" ? `epsilon ${loss.epsilon}` : `epsilon ${loss.epsilon}, delta ${loss.delta}`;
}

let latest = 0;

async function plan() {
  const turn = ++latest;
  let lines;
  try {
    const answer = await fetch(form.dataset.plans, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(question()),
    });
    const said = await answer.json();
    if (answer.ok) {
      const left = said.remaining && said.remaining.epsilon ? `; epsilon ${said.remaining.epsilon} is left before it` : "";
      const more = said.more_like_it === null ? "" : said.more_like_it < 0 ? "; its epsilon or its delta is more than is left" : `; ${said.more_like_it || "none"} more like it`;
      lines = [
        line("Plan, free. Press “What would it cost?” to go on."),
        line(`Expect: ${said.expected}.`),
        line(`Costs ${priced(said.charge)}${left}${more}.`),
        ...(said.answered ? [line("Already answered: go on to see it without a charge.")] : []),
        ...(said.would_be_refused ? [line(`By earlier answers ${said.would_be_refused.problem}. It is charged all the same if you ask.`, "notice")] : []),
        ...said.warnings.map((warning) => line(warning, "notice")),
      ];
    } else {
      lines = [line(said.detail, "notice")];
    }
  } catch {
    lines = [line("The server cannot be reached.", "notice")];
  }
  if (turn === latest) section.replaceChildren(...lines);
}

if (form && section) {
  let waiting;
  form.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(plan, 400);
  });
}

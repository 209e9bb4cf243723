//! `holdfast chat answer`.

use serde_json::{Value, json};

use super::Scene;
use super::wait::Changes;
use crate::clock::Deadline;
use crate::fault::{Exit, Fault};
use crate::rows::{list, word};
use crate::text::line;

/// Items that are looked through for open prompts.
const PAGE_ITEMS: usize = 200;

/// What `chat answer` is told.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The chat.
    chat: String,
    /// What is chosen: an option's number, its id, or the beginning of its label. Several questions
    /// take one each, in their order; several options of one question are joined by commas. Without
    /// any, what is asked is shown.
    #[arg(value_name = "OPTION")]
    options: Vec<String>,
    /// The prompt, where several are open.
    #[arg(long, value_name = "ID")]
    prompt: Option<String>,
    /// Wait until the agent asks something, as long as it works.
    #[arg(long, short)]
    wait: bool,
    /// Words beside the option, or instead of one where the agent takes any.
    #[arg(long)]
    text: Option<String>,
}

impl Args {
    pub(super) fn run(&self, scene: &Scene<'_>) -> Result<(), Fault> {
        let chat = scene.chat(&self.chat)?;
        let row = if self.wait {
            asking(scene, &chat)?
        } else {
            scene.client.get(&format!("/chats/{chat}"))?
        };
        let wanted: Vec<&str> =
            list(&row["activity"], "prompts").iter().map(|prompt| word(prompt, "id")).collect();
        let open = open(scene, &chat, &wanted)?;
        if self.options.is_empty() && self.text.is_none() {
            return show(scene, &chat, &open);
        }
        let question = match (&self.prompt, open.as_slice()) {
            (Some(id), _) => open.iter().find(|question| question.id() == id),
            (None, [one]) => Some(one),
            (None, []) => None,
            (None, several) => {
                let ids: Vec<&str> = several.iter().map(Question::id).collect();
                let text = format!("{} prompts are open: say which --prompt.", ids.len());
                return Err(Fault::usage(text).advice(ids.join(", ")));
            }
        };
        let path = |id: &str| format!("/chats/{chat}/prompts/{id}/answer");
        let answer = match (question, &self.prompt) {
            (Some(question), _) => {
                let given = question.given(&self.options, self.text.as_deref())?;
                scene.client.post(&path(question.id()), &given)?
            }
            // The host knows what became of a prompt that is not open.
            (None, Some(id)) => {
                let option = self.options.first().map_or("", String::as_str);
                scene.client.post(&path(id), &json!({ "option": option }))?
            }
            (None, None) => {
                let text = "The agent asks nothing now.";
                let fault = Fault::new(Exit::Refused, "nothing_asked", text);
                let works = matches!(word(&row["status"], "shown"), "working" | "monitoring");
                return Err(match works {
                    true => fault.advice("It works, and may still ask: --wait waits for that."),
                    false => fault,
                });
            }
        };
        scene.done(&answer, "Answered.")
    }
}

/// The chat, once its agent asks something or will not.
fn asking(scene: &Scene<'_>, chat: &str) -> Result<Value, Fault> {
    let deadline = Deadline::after(scene.client.timeout());
    let mut changes = Changes::of(scene, chat);
    loop {
        let row = scene.client.get(&format!("/chats/{chat}"))?;
        let works = matches!(word(&row["status"], "shown"), "working" | "monitoring");
        if !works || !list(&row["activity"], "prompts").is_empty() {
            return Ok(row);
        }
        if !changes.wait(scene, chat, deadline) {
            let text = "The agent works, and has asked nothing yet.";
            return Err(Fault::new(Exit::TimedOut, "timed_out", text));
        }
    }
}

fn show(scene: &Scene<'_>, chat: &str, open: &[Question]) -> Result<(), Fault> {
    if scene.out.is_json() {
        let prompts: Vec<&Value> = open.iter().map(|question| &question.prompt).collect();
        return scene.out.json(&json!({ "items": prompts, "next": null }));
    }
    if open.is_empty() {
        scene.out.note("The agent asks nothing now.");
    }
    for question in open {
        question.show(scene)?;
        scene.out.hint(&format!("\nholdfast chat answer {chat} OPTION answers."));
    }
    Ok(())
}

/// The prompts that are open. Their items may be far back in the transcript.
fn open(scene: &Scene<'_>, chat: &str, wanted: &[&str]) -> Result<Vec<Question>, Fault> {
    let mut found: Vec<Value> = Vec::new();
    let mut before = String::new();
    while found.len() < wanted.len() {
        let mut page =
            scene.client.get(&format!("/chats/{chat}/items?limit={PAGE_ITEMS}{before}"))?;
        let next = page["next"].as_u64();
        if let Value::Array(items) = page["items"].take() {
            let open = |item: &Value| wanted.contains(&word(&item["prompt"], "id"));
            found.extend(items.into_iter().rev().filter(open));
        }
        match next {
            Some(next) => before = format!("&before={next}"),
            None => break,
        }
    }
    found.reverse();
    Ok(questions(&found))
}

/// The questions among some items that wait for an answer.
pub(super) fn questions(items: &[Value]) -> Vec<Question> {
    let open = items.iter().map(|item| &item["prompt"]).filter(|p| word(p, "state") == "open");
    open.map(|prompt| Question { prompt: prompt.clone() }).collect()
}

/// Something that an agent asks.
pub(super) struct Question {
    prompt: Value,
}

impl Question {
    pub(super) fn id(&self) -> &str {
        word(&self.prompt, "id")
    }

    /// The question and what can be chosen, a line each.
    pub(super) fn lines(&self) -> Vec<String> {
        let asked = list(&self.prompt, "questions");
        let mut lines = vec![format!("{}  {}", line(self.id()), line(word(&self.prompt, "label")))];
        if asked.is_empty() {
            lines.extend(choices(&self.prompt, "  "));
        }
        for question in asked {
            let several = if question["multi"] == true { " (several)" } else { "" };
            lines.push(format!("  {}{several}", line(word(question, "text"))));
            lines.extend(choices(question, "    "));
        }
        lines
    }

    pub(super) fn show(&self, scene: &Scene<'_>) -> Result<(), Fault> {
        self.lines().iter().try_for_each(|line| scene.out.line(line))
    }

    /// The question for whoever waits for something else.
    pub(super) fn words(&self, chat: &str) -> String {
        let lines = self.lines().join("\n  ");
        format!("The agent asks:\n  {lines}\nholdfast chat answer {chat} OPTION answers.")
    }

    /// The answer as the host takes it.
    fn given(&self, options: &[String], text: Option<&str>) -> Result<Value, Fault> {
        let asked = list(&self.prompt, "questions");
        if asked.is_empty() {
            let [option] = options else {
                let text = "This takes one OPTION, by its number, its id or its label.";
                return Err(Fault::usage(text).advice(self.lines().join("\n  ")));
            };
            let option = chosen(list(&self.prompt, "options"), option)?;
            return Ok(json!({ "option": option, "text": text }));
        }
        if options.len() > asked.len() || (options.len() < asked.len() && text.is_none()) {
            let text = format!("This takes {} OPTIONs, one for each question.", asked.len());
            return Err(Fault::usage(text).advice(self.lines().join("\n  ")));
        }
        let one = |(n, question): (usize, &Value)| {
            let picked = options.get(n).map(|option| picked(question, option)).transpose()?;
            let text = text.filter(|_| n + 1 == asked.len());
            Ok(json!({
                "question": question["id"], "options": picked.unwrap_or_default(), "text": text,
            }))
        };
        let answers: Result<Vec<Value>, Fault> = asked.iter().enumerate().map(one).collect();
        Ok(json!({ "answers": answers? }))
    }
}

fn choices(question: &Value, indent: &str) -> Vec<String> {
    let choice = |(n, option): (usize, &Value)| {
        format!("{indent}{}  {}", n + 1, line(word(option, "label")))
    };
    let mut lines: Vec<String> = list(question, "options").iter().enumerate().map(choice).collect();
    if question["free"] == true {
        lines.push(format!("{indent}or your own words with --text"));
    }
    lines
}

/// The ids of the options of one question that are joined by commas.
fn picked(question: &Value, written: &str) -> Result<Vec<String>, Fault> {
    let options = list(question, "options");
    match chosen(options, written) {
        Ok(id) => Ok(vec![id]),
        Err(_) if question["multi"] == true && written.contains(',') => {
            written.split(',').map(|one| chosen(options, one.trim())).collect()
        }
        Err(fault) => Err(fault),
    }
}

/// The id of the one option that is meant: by its id, its number, its label or the beginning of it.
fn chosen(options: &[Value], written: &str) -> Result<String, Fault> {
    let id = |option: &Value| word(option, "id").to_owned();
    if let Some(option) = options.iter().find(|option| word(option, "id") == written) {
        return Ok(id(option));
    }
    if let Ok(number) = written.parse::<usize>()
        && let Some(option) = number.checked_sub(1).and_then(|n| options.get(n))
    {
        return Ok(id(option));
    }
    let wanted = written.to_lowercase();
    let label = |option: &Value| word(option, "label").to_lowercase();
    if let Some(option) = options.iter().find(|option| label(option) == wanted) {
        return Ok(id(option));
    }
    let fits = |option: &&Value| !wanted.is_empty() && label(option).starts_with(&wanted);
    let fitting: Vec<&Value> = options.iter().filter(fits).collect();
    if let [one] = fitting.as_slice() {
        return Ok(id(one));
    }
    let labels: Vec<String> = options
        .iter()
        .enumerate()
        .map(|(n, option)| format!("{}  {}", n + 1, line(word(option, "label"))))
        .collect();
    let text = if fitting.is_empty() {
        format!("There is no option {written:?}.")
    } else {
        format!("{} options begin with {written:?}.", fitting.len())
    };
    Err(Fault::usage(text).advice(labels.join("\n  ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn options() -> Value {
        json!([
            { "id": "allow", "label": "Allow once" },
            { "id": "always", "label": "Always allow" },
            { "id": "2", "label": "Reject" },
        ])
    }

    #[rstest]
    #[case::id("allow", Some("allow"))]
    #[case::number("1", Some("allow"))]
    #[case::an_id_that_is_a_number_of_another("2", Some("2"))]
    #[case::label("always ALLOW", Some("always"))]
    #[case::beginning("rej", Some("2"))]
    #[case::of_two("al", None)]
    #[case::nothing("", None)]
    #[case::too_far("4", None)]
    #[case::zero("0", None)]
    fn an_option_is_named_in_any_way(#[case] written: &str, #[case] meant: Option<&str>) {
        let options = options();
        assert_eq!(chosen(options.as_array().unwrap(), written).ok().as_deref(), meant);
    }

    #[test]
    fn several_questions_take_an_answer_each() {
        let questions = json!([
            { "id": "q1", "text": "Which?", "multi": true, "options": options() },
            { "id": "q2", "text": "Why?", "multi": false, "options": options() },
        ]);
        let question = Question { prompt: json!({ "id": "p1.1", "questions": questions }) };
        let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
        let given = question.given(&words(&["1,rej", "always"]), None).unwrap();
        let answers = json!([
            { "question": "q1", "options": ["allow", "2"], "text": null },
            { "question": "q2", "options": ["always"], "text": null },
        ]);
        assert_eq!(given, json!({ "answers": answers }));
        assert_eq!(question.given(&words(&["1"]), None).unwrap_err().exit, Exit::Usage);
        assert!(question.given(&words(&["1", "1,2"]), None).is_err(), "one only takes one");
    }
}

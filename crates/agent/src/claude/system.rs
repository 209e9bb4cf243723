//! What the CLI itself tells: turns that begin, states, retries, compaction, limits.

use holdfast_core::item::Notice;
use holdfast_core::limits::{TITLE_CHARS_MAX, cut};
use holdfast_core::provider::ProviderEvent;
use holdfast_core::slash::SlashCommand;
use serde_json::value::RawValue;

use super::wire;
use super::{Line, State, read};
use crate::ordinals::head;

/// Bytes of a remark of the CLI's.
const REMARK_BYTES_MAX: usize = 8 * 1024;

impl State {
    pub(super) fn system(
        &mut self,
        line: Line<'_>,
        text: &str,
        frame: &wire::Frame<'_>,
        out: &mut Vec<ProviderEvent>,
    ) {
        let told: wire::System<'_> = read(text);
        match frame.subtype.as_deref().unwrap_or_default() {
            "init" => self.begins(&told, frame, out),
            "status" => {
                self.works_in(told.mode, out);
                self.names(frame.named.as_ref(), out);
            }
            "task_started" => self.task_started(&read(text), out),
            "task_updated" => self.task_updated(&read(text), out),
            "task_notification" => self.task_notified(&read(text), out),
            "background_tasks_changed" => self.roster(&read(text), out),
            "session_title_changed" => {
                let title = cut(told.title.as_deref().unwrap_or_default(), TITLE_CHARS_MAX);
                out.push(ProviderEvent::Titled { title });
            }
            "compact_boundary" => {
                let text = compacted(told.compaction.as_ref());
                self.blocks.compacted(text, &mut self.ordinals, out);
            }
            "api_retry" => self.retries(&told, out),
            "commands_changed" => commands(told.commands.as_ref(), out),
            // Words of the CLI for the person.
            "informational"
            | "notification"
            | "model_refusal_fallback"
            | "model_refusal_no_fallback"
            | "permission_denied"
            | "local_command_output"
            | "session_writes_lost"
            | "mirror_error"
            | "elicitation_complete" => {
                let words = [told.content, told.message, told.text, told.error];
                let words = words.into_iter().flatten().find(|text| !text.trim().is_empty());
                if let Some(words) = words {
                    self.remarks(head(&words, REMARK_BYTES_MAX), out);
                }
            }
            // What they say is said by other frames, or is for other hosts.
            "session_state_changed"
            | "task_progress"
            | "thinking_tokens"
            | "ui_invalidate"
            | "hook_started"
            | "hook_progress"
            | "hook_response"
            | "files_persisted"
            | "plugin_install"
            | "memory_recall"
            | "control_request_progress"
            | "worker_shutting_down" => {}
            _ => self.unrecognised("unknown_system_frame", line.0, out),
        }
    }

    /// The model's server did not answer; the CLI tries again.
    fn retries(&mut self, told: &wire::System<'_>, out: &mut Vec<ProviderEvent>) {
        let count = |raw| wire::count(raw).and_then(|n| u32::try_from(n).ok()).unwrap_or(0);
        let notice = Notice::Retrying { attempt: count(told.attempt), of: count(told.retries) };
        let status = told.error_status.map(RawValue::get).filter(|status| *status != "null");
        let why = [told.error.as_deref(), status].into_iter().flatten().collect::<Vec<_>>();
        let why = (!why.is_empty()).then(|| head(&why.join(" "), REMARK_BYTES_MAX).to_owned());
        self.blocks.retries(notice, why, &mut self.ordinals, out);
    }

    /// What the CLI tells of the account's limits: shown where they hold something up.
    pub(super) fn limited(&mut self, told: &wire::RateLimit, out: &mut Vec<ProviderEvent>) {
        let Some(info) = &told.info else { return };
        match info.status.as_deref() {
            None | Some("allowed") => {}
            Some(status) => {
                let kind = info.kind.as_deref().unwrap_or("usage");
                let text = format!("Limit of the account ({kind}): {status}");
                self.remarks(head(&text, REMARK_BYTES_MAX), out);
            }
        }
    }
}

/// What a person can write after a slash; without a list nothing is said of it.
pub(super) fn commands(told: Option<&wire::List<'_>>, out: &mut Vec<ProviderEvent>) {
    let Some(list) = told else { return };
    let each = list.each::<wire::Command>().filter_map(|told| {
        let (description, hint) =
            (told.description.unwrap_or_default(), told.hint.unwrap_or_default());
        SlashCommand::told(&told.name?, &description, &hint)
    });
    out.push(ProviderEvent::CommandsTold { commands: SlashCommand::distinct(each) });
}

fn compacted(told: Option<&wire::Compaction<'_>>) -> String {
    let sizes = told.map(|told| (wire::count(told.before), wire::count(told.after)));
    match sizes {
        Some((Some(before), Some(after))) => {
            format!("The conversation was shortened from {before} to {after} tokens.")
        }
        Some(_) | None => "The conversation was shortened.".to_owned(),
    }
}

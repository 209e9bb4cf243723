//! What the agent asks of its client.

use holdfast_core::provider::{Asked, ProtocolFrame, ProviderEvent};
use serde_json::value::RawValue;

use super::prompts::{Prompt, Shape};
use super::{Line, State, asked, wire};
use crate::jsonrpc::{INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, error_member};
use crate::ordinals::{digest, digest_within};

/// Requests that only a client gets that offered to answer them: they are refused without a word.
const UNDECLARED: &[&str] =
    &["item/tool/call", "account/chatgptAuthTokens/refresh", "attestation/generate"];

impl State {
    pub(super) fn request(
        &mut self,
        line: Line<'_>,
        id: &str,
        method: &str,
        params: Option<&RawValue>,
        out: &mut Vec<ProviderEvent>,
    ) {
        if self.thread.is_empty() {
            return refuse(id, METHOD_NOT_FOUND, "not before a thread stands", out);
        }
        let approval = || wire::read::<wire::Approval<'_>>(params).unwrap_or_default();
        match method {
            "item/commandExecution/requestApproval" => {
                let told = approval();
                let (thread, call) = self.place(told.thread.as_deref(), told.item.as_deref());
                let known = call.and_then(|call| self.calls.name(call));
                let (asked, shape) = asked::command(&told, known);
                self.ask(line, id, (thread, call), (asked, shape), out);
            }
            "item/fileChange/requestApproval" => {
                let told = approval();
                let (thread, call) = self.place(told.thread.as_deref(), told.item.as_deref());
                let known = call.and_then(|call| self.calls.name(call));
                let (asked, shape) = asked::patch(&told, known);
                self.ask(line, id, (thread, call), (asked, shape), out);
            }
            "item/permissions/requestApproval" => {
                let told = approval();
                let place = self.place(told.thread.as_deref(), told.item.as_deref());
                match asked::permissions(&told) {
                    Some(what) => self.ask(line, id, place, what, out),
                    None => self.cannot_ask(line, id, out),
                }
            }
            "item/tool/requestUserInput" => {
                let told: wire::UserInput<'_> = wire::read(params).unwrap_or_default();
                let place = self.place(told.thread.as_deref(), told.item.as_deref());
                match asked::questions(&told) {
                    Some(what) => self.ask(line, id, place, what, out),
                    None => self.cannot_ask(line, id, out),
                }
            }
            "mcpServer/elicitation/request" => {
                let told: wire::Elicitation<'_> = wire::read(params).unwrap_or_default();
                let place = self.place(told.thread.as_deref(), None);
                match asked::elicitation(&told) {
                    Some(what) => self.ask(line, id, place, what, out),
                    None => self.cannot_ask(line, id, out),
                }
            }
            _ => {
                refuse(id, METHOD_NOT_FOUND, "method not found", out);
                if !UNDECLARED.contains(&method) {
                    self.unrecognised("unknown_request", line.0, out);
                }
            }
        }
    }

    /// The digests of a thread, the chat's own where none is named, and of an item within it.
    fn place(&self, thread: Option<&str>, item: Option<&str>) -> (u64, Option<u64>) {
        let thread = thread.unwrap_or(&self.thread);
        (digest(thread.as_bytes()), item.map(|item| digest_within(thread, item)))
    }

    fn cannot_ask(&mut self, line: Line<'_>, id: &str, out: &mut Vec<ProviderEvent>) {
        refuse(id, INVALID_PARAMS, "this cannot be shown to a person", out);
        self.unrecognised("unknown_form", line.0, out);
    }

    fn ask(
        &mut self,
        line: Line<'_>,
        id: &str,
        (thread, call): (u64, Option<u64>),
        (asked, shape): (Asked, Shape),
        out: &mut Vec<ProviderEvent>,
    ) {
        // An id that is used again was resolved before.
        self.prompts.resolved(id, out);
        let mut row = Prompt::new(id, thread, call, shape);
        row.prompt = self.ordinals.prompt();
        if !self.prompts.fits(&row) {
            refuse(id, INVALID_REQUEST, "too many questions wait", out);
            return self.unrecognised("too_many_prompts", line.0, out);
        }
        let (prompt, item) = (row.prompt, self.ordinals.item());
        self.prompts.open(row);
        out.push(ProviderEvent::PromptOpened { prompt, item, asked });
    }
}

fn refuse(id: &str, code: i64, message: &str, out: &mut Vec<ProviderEvent>) {
    let outcome = error_member(code, message);
    out.push(ProviderEvent::Wants(ProtocolFrame::Reply { id: id.to_owned(), outcome }));
}

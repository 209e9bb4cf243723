//! What the agent asks of its client.

use holdfast_core::provider::{Asked, ProtocolFrame, ProviderEvent};
use serde_json::value::RawValue;

use super::calls::Owner;
use super::prompts::{Prompt, Shape, Word};
use super::turns::Says;
use super::{Line, State, asked, wire};
use crate::jsonrpc::{
    INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, REQUEST_CANCELLED, error_member,
};
use crate::ordinals::{digest, digest_within};

/// Requests that a client without file system and terminal refuses; some agents ask anyway, and
/// then help themselves.
const UNDECLARED: &[&str] = &["fs/", "terminal/"];

impl State {
    pub(super) fn request(
        &mut self,
        line: Line<'_>,
        id: &str,
        method: &str,
        params: Option<&RawValue>,
        out: &mut Vec<ProviderEvent>,
    ) {
        if !self.stands() {
            // No turn can wait for it yet, and nobody could be asked.
            return refuse(id, METHOD_NOT_FOUND, "not before the session stands", out);
        }
        match method {
            "session/request_permission" => self.permission(line, id, params, out),
            "elicitation/create" => self.elicitation(line, id, params, out),
            _ => {
                refuse(id, METHOD_NOT_FOUND, "method not found", out);
                if !UNDECLARED.iter().any(|prefix| method.starts_with(prefix)) {
                    self.unrecognised("unknown_request", line.0, out);
                }
            }
        }
    }

    fn permission(
        &mut self,
        line: Line<'_>,
        id: &str,
        params: Option<&RawValue>,
        out: &mut Vec<ProviderEvent>,
    ) {
        let told: wire::Permission<'_> = wire::read(params).unwrap_or_default();
        let foreign = self.foreign(told.session.as_deref());
        let call = told.call.as_ref().and_then(|call| call.id.as_deref());
        let call = call.map(|call| match foreign {
            Some(session) => digest_within(session, call),
            None => digest(call.as_bytes()),
        });
        let foreign = foreign.map(|session| digest(session.as_bytes()));
        let asked = asked::permission(&told, call.and_then(|call| self.calls.name(call)));
        let shape = Shape::Permission;
        self.ask(line, id, (call, foreign, told.call.as_ref()), asked, shape, out);
    }

    fn elicitation(
        &mut self,
        line: Line<'_>,
        id: &str,
        params: Option<&RawValue>,
        out: &mut Vec<ProviderEvent>,
    ) {
        let told: wire::Elicitation<'_> = wire::read(params).unwrap_or_default();
        let Some((asked, fields)) = asked::form(&told) else {
            refuse(id, INVALID_PARAMS, "this form cannot be shown", out);
            return self.unrecognised("unknown_form", line.0, out);
        };
        let foreign = self.foreign(told.session.as_deref());
        let foreign = foreign.map(|session| digest(session.as_bytes()));
        let call = told.call.as_deref().map(|call| digest(call.as_bytes()));
        self.ask(line, id, (call, foreign, None), asked, Shape::Form(fields), out);
    }

    fn ask(
        &mut self,
        line: Line<'_>,
        id: &str,
        (call, foreign, told): (Option<u64>, Option<u64>, Option<&wire::Call<'_>>),
        asked: Asked,
        shape: Shape,
        out: &mut Vec<ProviderEvent>,
    ) {
        if let Some(prompt) = self.prompts.reused(id, out) {
            refuse(id, INVALID_REQUEST, "this id is in use", out);
            out.push(ProviderEvent::PromptGone { prompt });
            return self.unrecognised("duplicate_request", line.0, out);
        }
        let mut row = Prompt::new(0, id, call, foreign, shape);
        if !self.prompts.fits(&row) {
            refuse(id, INVALID_REQUEST, "too many questions wait", out);
            return self.unrecognised("too_many_prompts", line.0, out);
        }
        let word = Word { foreign, known_call: None };
        let owner = if foreign.is_none() {
            self.says(Says::Anew, word, out);
            Owner::Own
        } else {
            self.prompts.heard(word, out);
            Owner::Foreign
        };
        self.texts.interrupted(out);
        if let (Some(call), Some(told)) = (call, told) {
            self.calls.upsert(call, owner, told, &mut self.ordinals, out);
        }
        let (prompt, item) = (self.ordinals.prompt(), self.ordinals.item());
        row.prompt = prompt;
        self.prompts.open(row);
        out.push(ProviderEvent::PromptOpened { prompt, item, asked });
    }

    /// The agent takes a request back: it still wants a reply, and nobody can answer any more.
    pub(super) fn cancel_request(
        &mut self,
        params: Option<&RawValue>,
        out: &mut Vec<ProviderEvent>,
    ) {
        let told: wire::CancelRequest<'_> = wire::read(params).unwrap_or_default();
        let Some(id) = told.request.map(RawValue::get) else { return };
        if let Some(prompt) = self.prompts.cancelled(id) {
            refuse(id, REQUEST_CANCELLED, "cancelled", out);
            out.push(ProviderEvent::PromptGone { prompt });
        }
    }

    /// The session, if it is not the chat's own.
    fn foreign<'a>(&self, session: Option<&'a str>) -> Option<&'a str> {
        session.filter(|session| *session != self.session)
    }
}

fn refuse(id: &str, code: i64, message: &str, out: &mut Vec<ProviderEvent>) {
    let outcome = error_member(code, message);
    out.push(ProviderEvent::Wants(ProtocolFrame::Reply { id: id.to_owned(), outcome }));
}

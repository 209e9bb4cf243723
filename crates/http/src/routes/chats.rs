//! Chats: list, open, look, title, close, reopen, delete, interrupt.

use std::collections::HashSet;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use holdfast_core::ids::ChatId;
use holdfast_core::input::{ChangeChat, Command, Leftovers, Reply};
use holdfast_core::limits::{
    CWD_BYTES_MAX, FOLDER_CHARS_MAX, MESSAGE_BYTES_MAX, PROJECT_CHARS_MAX, SLOT_CHARS_MAX,
    TAG_CHARS_MAX, TAGS_MAX, TITLE_CHARS_MAX,
};
use holdfast_core::refusal::{Code, Refusal};
use holdfast_store::query::QUERY_ROWS_MAX;
use holdfast_store::search::Terms;
use holdfast_store::{ChatFilter, ChatRow};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::app::App;
use crate::extract::fields::Most;
use crate::extract::{At, Call, Fields, MessageBody, Params, PlainBody};
use crate::limits::{NAME_CHARS_MAX, PAGE_CHATS, PAGE_CHATS_MAX};
use crate::openapi::{Request, query, request};
use crate::port::{Caller, WantedChat};
use crate::routes::search;
use crate::routes::{Answer, chat, odd_reply, shown, unread};
use crate::wire::page::{Page, RowPage};
use crate::wire::row::{Leftover, OpenedRow, Row};

/// The pages of the store that one request looks through for what it is narrowed to.
const PAGES_LOOKED_THROUGH_MAX: usize = 10;

/// Which chats a list shows.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[expect(dead_code, reason = "declared; read as words")]
enum ListState {
    /// Open ones.
    Open,
    /// Closed ones.
    Closed,
    /// All.
    All,
}

query! {
    /// What a list is narrowed to.
    pub(super) struct ListQuery {
        /// Which chats; `open` where nothing is said.
        #[param(inline)]
        state: Option<ListState>,
        /// Words that the title, the last prompt, the project or the slot has.
        q: Option<String>,
        /// A folder.
        folder: Option<String>,
        /// A tag.
        tag: Option<String>,
        /// A project.
        project: Option<String>,
        /// The `next` of the page before.
        before: Option<String>,
        /// Rows of the page, at most; more than the host gives at once is cut.
        #[param(minimum = 1)]
        limit: Option<u64>,
    }
}

/// A page of chats, the last changed first.
#[utoipa::path(
    get,
    path = "/chats",
    params(ListQuery),
    responses((status = OK, description = "A page; `next` is the `before` of the one after it.", body = RowPage)),
    extensions(("x-refusals" = json!([Code::InvalidCursor, Code::FieldTooLong]))),
)]
pub(super) async fn list(State(app): State<App>, params: Params) -> Answer<Json<RowPage>> {
    let params = params.only::<ListQuery>()?;
    let states =
        [("open", ChatFilter::Open), ("closed", ChatFilter::Closed), ("all", ChatFilter::All)];
    let filter = params.word("state", &states)?.unwrap_or_default();
    let limit = params.limit(PAGE_CHATS, PAGE_CHATS_MAX)?;
    let narrow = Narrow::of(&app, &params).await?;
    let mut next = params.one("before")?.map(str::to_owned);
    let mut items = Vec::new();
    for _ in 0..PAGES_LOOKED_THROUGH_MAX {
        let wanted = match narrow {
            Narrow::Not => limit,
            // A page that is looked through may fill the answer, but not overfill it.
            Narrow::To { .. } => limit.saturating_sub(items.len()).min(QUERY_ROWS_MAX),
        };
        let page = app.store.chats(filter, next.take(), wanted).await.map_err(unread)?;
        items.extend(page.rows.into_iter().filter(|row| narrow.keeps(row)).map(Row::of));
        next = page.next;
        if next.is_none() || items.len() >= limit {
            break;
        }
    }
    Ok(Json(Page { items, next }))
}

/// What a list is narrowed to beside the state of its chats.
enum Narrow {
    Not,
    To {
        words: Option<Words>,
        project: Option<String>,
        folder: Option<String>,
        tag: Option<String>,
    },
}

impl Narrow {
    async fn of(app: &App, params: &Params) -> Answer<Self> {
        let words = match search::terms(params.one("q")?)? {
            None => None,
            Some(terms) => Some(Words::of(app, terms).await?),
        };
        let exact = |name| params.one(name).map(|text| text.map(str::to_owned));
        let (project, folder, tag) = (exact("project")?, exact("folder")?, exact("tag")?);
        Ok(match (&words, &project, &folder, &tag) {
            (None, None, None, None) => Self::Not,
            _ => Self::To { words, project, folder, tag },
        })
    }

    fn keeps(&self, row: &ChatRow) -> bool {
        match self {
            Self::Not => true,
            Self::To { words, project, folder, tag } => {
                let marks = &row.summary.marks;
                words.as_ref().is_none_or(|words| words.are_in(row))
                    && project.as_ref().is_none_or(|project| row.project.as_ref() == Some(project))
                    && folder.as_ref().is_none_or(|folder| marks.folder.as_ref() == Some(folder))
                    && tag.as_ref().is_none_or(|tag| marks.tags.contains(tag))
            }
        }
    }
}

/// What `q` looks for: in the rows, and in all transcripts.
struct Words {
    terms: Vec<String>,
    found: HashSet<ChatId>,
}

impl Words {
    async fn of(app: &App, terms: Terms) -> Answer<Self> {
        let lower = terms.as_slice().iter().map(|term| term.to_lowercase()).collect();
        // Without an index what the rows say is found all the same.
        let found = search::chats(app, terms).await?;
        Ok(Self { terms: lower, found })
    }

    fn are_in(&self, row: &ChatRow) -> bool {
        let texts = [&row.title, &row.first_prompt, &row.last_prompt, &row.project, &row.slot];
        let texts: Vec<String> = texts.into_iter().flatten().map(|t| t.to_lowercase()).collect();
        self.found.contains(&row.id)
            || self.terms.iter().all(|term| texts.iter().any(|text| text.contains(term)))
    }
}

request! {
    /// A chat to open. It starts no agent; a message does.
    pub(super) struct NewChat {
        /// The id of an agent.
        #[schema(example = "demo")]
        agent: String,
        /// The directory in which the agent works: an absolute path. The home directory where
        /// nothing is said.
        cwd: Option<String>,
        /// A session that the agent keeps itself, which the chat goes on with: what it holds is shown,
        /// and its directory is the chat's.
        adopt: Option<Adopt>,
        /// The project.
        project: Option<String>,
        /// The title; the first message where nothing is said.
        title: Option<String>,
        /// The name under which apps address the chat.
        slot: Option<String>,
        /// The agent's model.
        model: Option<String>,
        /// The agent's mode.
        mode: Option<String>,
        /// How hard the agent thinks, by a word that it knows.
        effort: Option<String>,
        /// The first message.
        message: Option<First>,
    }

    /// A session that was there before.
    struct Adopt {
        /// The agent's id of it, as `GET /agents/{agent}/sessions` gives it.
        session: String,
    }

    /// A first message as an object.
    struct FirstMessage {
        /// Its text.
        text: String,
    }
}

/// A first message: its text, or an object with it.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "declared; read by hand")]
enum First {
    /// Its text.
    Text(String),
    /// An object with it.
    Message(FirstMessage),
}

/// Opens a chat.
#[utoipa::path(
    post,
    path = "/chats",
    request_body = NewChat,
    responses((status = CREATED, description = "The chat, with the receipt of its first message.", body = OpenedRow)),
    extensions(("x-refusals" = json!([
        Code::AgentNotFound, Code::SlotTaken, Code::ChatNotFound, Code::SessionUnknown, Code::SessionTaken,
        Code::DirectoryGone, Code::NotSupported
    ]))),
)]
pub(super) async fn open(
    State(app): State<App>,
    mut call: Call<MessageBody>,
) -> Answer<(StatusCode, Json<OpenedRow>)> {
    let wanted = wanted(&app, &mut call)?;
    let (id, receipt) = match app.host.open(wanted, call.caller.clone()).await? {
        Reply::Opened { chat, receipt } => (chat, receipt),
        other => return Err(odd_reply(&other)),
    };
    let row = shown(&app, call.caller, id).await?;
    Ok((StatusCode::CREATED, Json(OpenedRow { row, receipt })))
}

fn wanted(app: &App, call: &mut Call<MessageBody>) -> Result<WantedChat, Refusal> {
    let mut fields = call.fields::<NewChat>()?;
    let name = Most::Chars(NAME_CHARS_MAX);
    let agent = fields.line("agent", name)?.ok_or_else(|| fields.missing("agent"))?;
    let message = first_message(&mut fields)?;
    let (cwd, adopt) = (directory(&mut fields)?, adopted(&mut fields)?);
    if cwd.is_some() && adopt.is_some() {
        return Err(fields.invalid("cwd", "absent where a session is adopted: it has its own"));
    }
    Ok(WantedChat {
        agent,
        cwd,
        adopt,
        project: fields.line("project", Most::Chars(PROJECT_CHARS_MAX))?,
        title: fields.line("title", Most::Chars(TITLE_CHARS_MAX))?,
        slot: fields.line("slot", Most::Chars(SLOT_CHARS_MAX))?,
        model: fields.line("model", name)?,
        mode: fields.line("mode", name)?,
        effort: fields.line("effort", name)?,
        message: message.map(|text| (app.host.new_message(), text, call.principal.author)),
    })
}

/// A path as it is: it may have any character but NUL, which no path has.
fn directory(fields: &mut Fields) -> Result<Option<String>, Refusal> {
    let cwd = fields.text("cwd", Most::Bytes(CWD_BYTES_MAX))?;
    match cwd {
        Some(cwd) if !cwd.starts_with('/') || cwd.contains('\0') => {
            Err(fields.invalid("cwd", "an absolute path"))
        }
        cwd => Ok(cwd),
    }
}

/// The session that the chat goes on with.
fn adopted(fields: &mut Fields) -> Result<Option<String>, Refusal> {
    match fields.value("adopt") {
        None => Ok(None),
        Some(Value::Object(adopt)) => {
            let mut inner = Fields::within(adopt, Adopt::FIELDS, "adopt.".to_owned())?;
            let session = inner.line("session", Most::Chars(NAME_CHARS_MAX))?;
            session.map(Some).ok_or_else(|| inner.missing("session"))
        }
        Some(_) => Err(fields.invalid("adopt", "an object with the session")),
    }
}

/// The first message: its text, or an object with it.
fn first_message(fields: &mut Fields) -> Result<Option<String>, Refusal> {
    let most = Most::Bytes(MESSAGE_BYTES_MAX);
    match fields.value("message") {
        None => Ok(None),
        Some(Value::Object(message)) => {
            let mut inner = Fields::within(message, FirstMessage::FIELDS, "message.".to_owned())?;
            let text = inner.text("text", most)?;
            text.map(Some).ok_or_else(|| inner.missing("text"))
        }
        Some(text) => {
            let alone = [("message".to_owned(), text)].into_iter().collect();
            Fields::of(alone, &["message"])?.text("message", most)
        }
    }
}

/// One chat.
#[utoipa::path(
    get,
    path = "/chats/{chat}",
    responses((status = OK, description = "The chat.", body = Row)),
)]
pub(super) async fn one(State(app): State<App>, at: At) -> Answer<Json<Row>> {
    Ok(Json(Row::of(chat(&app, at.id("chat")?).await?)))
}

request! {
    /// What is to change of a chat; what is absent stays.
    pub(super) struct ChatChange {
        /// Its title.
        title: Option<String>,
        /// Its slot; empty takes it away.
        slot: Option<String>,
        /// Whether it stands first.
        pinned: Option<bool>,
        /// Its folder; empty takes it out of the one it is in.
        folder: Option<String>,
        /// Its tags.
        tags: Option<Vec<String>>,
        /// Whether it makes no sound.
        muted: Option<bool>,
        /// Whether something new was not looked at.
        unread: Option<bool>,
        /// Its model.
        model: Option<String>,
        /// Its mode.
        mode: Option<String>,
        /// How hard the agent thinks, by a word that it knows.
        effort: Option<String>,
    }
}

/// Changes what a person calls a chat, how it is arranged, with what model and mode it works.
#[utoipa::path(
    patch,
    path = "/chats/{chat}",
    request_body = ChatChange,
    responses((status = OK, description = "The chat as it is now.", body = Row)),
    extensions(("x-refusals" = json!([Code::NotSupported, Code::SlotTaken]))),
)]
pub(super) async fn patch(
    State(app): State<App>,
    at: At,
    mut call: Call<PlainBody>,
) -> Answer<Json<Row>> {
    let id = at.id("chat")?;
    let change = changes(&mut call)?;
    if change == ChangeChat::default() {
        change_nothing(&app, id, call.caller.clone()).await?;
    } else {
        app.host.submit(id, Command::Change(change), call.caller.clone()).await?;
    }
    Ok(Json(shown(&app, call.caller, id).await?))
}

fn changes(call: &mut Call<PlainBody>) -> Result<ChangeChat, Refusal> {
    let mut fields = call.fields::<ChatChange>()?;
    let name = Most::Chars(NAME_CHARS_MAX);
    Ok(ChangeChat {
        title: fields.line("title", Most::Chars(TITLE_CHARS_MAX))?,
        // An empty one takes it away.
        slot: fields.raw_text("slot", Most::Chars(SLOT_CHARS_MAX))?,
        pinned: fields.flag("pinned")?,
        folder: fields.raw_text("folder", Most::Chars(FOLDER_CHARS_MAX))?,
        tags: fields.lines("tags", TAGS_MAX, Most::Chars(TAG_CHARS_MAX))?,
        muted: fields.flag("muted")?,
        unread: fields.flag("unread")?,
        model: fields.line("model", name)?,
        mode: fields.line("mode", name)?,
        effort: fields.line("effort", name)?,
    })
}

/// A change without a field changes nothing, but its key is spent as that of any other.
async fn change_nothing(app: &App, id: ChatId, caller: Caller) -> Answer<()> {
    if app.host.replayed(caller.clone()).await?.is_none() {
        chat(app, id).await?;
        app.host.remember(Some(id), Reply::Row, caller).await?;
    }
    Ok(())
}

/// What becomes of processes that outlived their tool call.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[expect(dead_code, reason = "declared; read as words")]
enum LeftoversThen {
    /// They are ended.
    End,
    /// They stay.
    Leave,
}

request! {
    /// A close of a chat.
    pub(super) struct Close {
        /// What becomes of leftovers; `end` where nothing is said.
        leftovers: Option<LeftoversThen>,
    }
}

/// What was left when a chat was closed.
#[derive(Serialize, ToSchema)]
pub(super) struct Closed {
    /// What was left running.
    leftovers: Vec<Leftover>,
}

/// Closes a chat.
#[utoipa::path(
    post,
    path = "/chats/{chat}/close",
    request_body = Close,
    responses((status = OK, description = "It is closed.", body = Closed)),
)]
pub(super) async fn close(
    State(app): State<App>,
    at: At,
    mut call: Call<PlainBody>,
) -> Answer<Json<Closed>> {
    let choices = [("end", Leftovers::End), ("leave", Leftovers::Leave)];
    let leftovers = call.fields::<Close>()?.word("leftovers", &choices)?.unwrap_or_default();
    match app.host.submit(at.id("chat")?, Command::Close { leftovers }, call.caller).await? {
        Reply::Closed { leftovers } => {
            Ok(Json(Closed { leftovers: leftovers.into_iter().map(Leftover::of).collect() }))
        }
        other => Err(odd_reply(&other)),
    }
}

/// Opens a closed chat again.
#[utoipa::path(
    post,
    path = "/chats/{chat}/reopen",
    responses((status = OK, description = "The chat, open.", body = Row)),
    extensions(("x-refusals" = json!([Code::ChatOpen, Code::SlotTaken]))),
)]
pub(super) async fn reopen(
    State(app): State<App>,
    at: At,
    mut call: Call<PlainBody>,
) -> Answer<Json<Row>> {
    call.no_fields()?;
    let id = at.id("chat")?;
    app.host.submit(id, Command::Reopen, call.caller.clone()).await?;
    Ok(Json(shown(&app, call.caller, id).await?))
}

/// A write that has nothing more to say than that it is done.
#[derive(Serialize, ToSchema)]
pub(crate) struct Done {}

/// Deletes a chat.
#[utoipa::path(
    delete,
    path = "/chats/{chat}",
    responses((status = OK, description = "It is deleted.", body = Done)),
    extensions(("x-refusals" = json!([Code::ChatPinned]))),
)]
pub(super) async fn delete(
    State(app): State<App>,
    at: At,
    mut call: Call<PlainBody>,
) -> Answer<Json<Done>> {
    call.no_fields()?;
    app.host.submit(at.id("chat")?, Command::Delete, call.caller).await?;
    Ok(Json(Done {}))
}

/// What is done to the agent.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[expect(dead_code, reason = "declared; read as words")]
enum AgentThen {
    /// It is ended.
    Stop,
}

request! {
    /// An interruption.
    pub(super) struct Interrupt {
        /// Also end the agent itself.
        agent: Option<AgentThen>,
    }
}

/// Ends the running turn, or the agent itself.
#[utoipa::path(
    post,
    path = "/chats/{chat}/interrupt",
    request_body = Interrupt,
    responses((status = OK, description = "The agent is told.", body = Done)),
    extensions(("x-refusals" = json!([Code::NoTurn]))),
)]
pub(super) async fn interrupt(
    State(app): State<App>,
    at: At,
    mut call: Call<PlainBody>,
) -> Answer<Json<Done>> {
    let agent = call.fields::<Interrupt>()?.word("agent", &[("stop", ())])?;
    let command = agent.map_or(Command::Interrupt, |()| Command::StopAgent);
    app.host.submit(at.id("chat")?, command, call.caller).await?;
    Ok(Json(Done {}))
}

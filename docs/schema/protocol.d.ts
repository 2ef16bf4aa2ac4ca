// The messages of docs/reference/protocol.md, made by `python -m tools.protocol_types`.
declare namespace Protocol {
  /** Asks for the analysis of a position in the room's game. Attributes: ply: The number of moves before the position, by default all. stones: Whether texts call the marks black and white. */
  interface Analyse {
    type: "analyse";
    room: string;
    ply?: number;
    stones?: boolean;
    id?: string;
  }

  /** The analysis of the position after `ply` moves. Attributes: turn: The mark to move, or None at the end of the game. value: The value of the position for `turn`. cells: The value of each legal cell; empty at the end of the game, and if a choice is due. best: The best cells; empty if the value is unknown and more than half of the cells seem equally good. solved: Whether every value is exact. options: The value of each option, if a choice in an opening is due. best_options: The options with the best value. before: The analysis of the position before the choice, if a choice was made at this `ply`. text: The value and the best moves in the language of `Hello`. played: The next move of the game, if `Hello` had a language and the move's value is known. */
  interface AnalysisState {
    ply: number;
    turn: string | null;
    value: CellValue;
    cells: { [key: string]: CellValue };
    best: number[];
    solved: boolean;
    options?: { [key: string]: CellValue };
    best_options?: string[];
    before?: AnalysisState;
    text?: string;
    played?: PlayedMove;
  }

  /** A message from the operator to all players, or with a `code` from the server to this player. Attributes: at: The time in ms since 1970. */
  interface Announcement {
    type: "announcement";
    text: string;
    at: number;
    code?: string;
  }

  /** Accepts or declines a challenge. If the challenger sends it with `accept` false, the challenge is withdrawn. */
  interface Answer {
    type: "answer";
    challenge: string;
    accept: boolean;
    id?: string;
  }

  /** Blocks a player, which hides their challenges and chat, or ends the block. Every reply lists the blocked players. Attributes: player: The id or the claimed name of the player; left out if no block changes. on: Whether to block the player or to end the block. strangers: True blocks challenges from players who were not in one of the sender's last 50 games, false allows them again. */
  interface Block {
    type: "block";
    player?: string;
    on?: boolean;
    strangers?: boolean;
    id?: string;
  }

  /** Calls the recipient to a tournament game. Attributes: mark: The mark that the recipient plays. against: The name of the opponent. due_ms: The time left for joining the room; 0 if another connection of the recipient is there. */
  interface Call {
    type: "call";
    event: string;
    pairing: string;
    room: string;
    mark: string;
    against: string;
    due_ms: number;
  }

  /** A card, whose `ticket` admits the player with this `name` in the roster. */
  interface Card {
    name: string;
    ticket: string;
  }

  /** The value of a position or a move for the player to move. Attributes: plies: For `win` and `loss`, the number of moves of all players to the end of the game. estimate: A number from -1 (lost) to 1 (won); exact unless the kind is `unknown`. text: For a cell, the value in the language of `Hello`, or "". sign: The same in short, such as `+3` or `~`. */
  interface CellValue {
    kind: string;
    plies?: number | null;
    estimate?: number;
    text?: string;
    sign?: string;
  }

  /** Challenges a player to a game. Attributes: player: The id or the claimed name of the challenged player. side: The mark for the challenger. By default, the marks are random. */
  interface Challenge {
    type: "challenge";
    player: string;
    rules?: string | RulesFields;
    clock?: ClockFields | null;
    rated?: boolean;
    side?: string;
    id?: string;
  }

  /** The end of a challenge from or to the recipient. Attributes: room: The room where both players have a seat, if the challenge was accepted. */
  interface ChallengeOver {
    type: "challenge_over";
    challenge: string;
    how: string;
    room?: string;
  }

  /** A new challenge to the recipient, or from the recipient on another connection. */
  interface Challenged {
    type: "challenge";
    challenge: string;
    player: string;
    name: string;
    to: string;
    rules: RulesState;
    clock: ClockTerms | null;
    rated?: boolean;
    side?: string;
    expires_ms: number;
  }

  /** Sends a chat line to everyone in the room: a `text`, or the id of a `sentence`. A text of more than 200 characters is refused with `too_long`. */
  interface Chat {
    type: "chat";
    room: string;
    text?: string;
    sentence?: "again" | "hello" | "luck" | "moment" | "nice" | "oops" | "thanks" | "well_played";
    id?: string;
  }

  /** A chat line in a room. Attributes: from_: The sender's name. seat: The sender's mark, or None for a watcher. text: The text, or the English words of `sentence`. at: The time in ms since 1970. player: The sender's public id. sentence: The id of the sentence, if the sender chose one. */
  interface ChatLine {
    type: "chat";
    room: string;
    from: string;
    seat: string | null;
    text: string;
    at: number;
    player: string;
    sentence?: string;
  }

  /** Chooses an option in an opening. Attributes: take: The mark of the side to take, or `more`. ply: The number of moves before the choice. */
  interface Choose {
    type: "choose";
    room: string;
    take: string;
    ply: number;
    id?: string;
    player?: string;
  }

  /** Claims a win or a draw because the opponent has been disconnected for longer than the hold. */
  interface Claim {
    type: "claim";
    room: string;
    as: "draw" | "win";
    id?: string;
    player?: string;
  }

  /** Claims a name for the player. The reply contains rescue codes, which restore the name. */
  interface ClaimName {
    type: "claim_name";
    name: string;
    id?: string;
  }

  /** The clock that a request chooses; see `ClockTerms`. */
  interface ClockFields {
    initial_ms?: number;
    increment_ms?: number;
    move_ms?: number;
    days?: number;
    bank_days?: number;
  }

  /** The clock of a game at the time of sending. Attributes: remaining_ms: The time left, by mark. running: The mark whose clock is running, or None. start_ms: The time left for a player's first move; left out if no first move is due. */
  interface ClockState {
    remaining_ms: { [key: string]: number };
    running: string | null;
    start_ms?: number;
  }

  /** The terms of a clock: a time for each seat with an increment for each move, a time for each move, or days. Attributes: initial_ms: The time for each seat. increment_ms: The increment for each move. move_ms: The time for each move, instead of the other two. days: The number of days for each move, instead of all of these. bank_days: With `days`, the reserve of each player, which pays for the part of a move beyond `days`; 0 if it is left out. */
  interface ClockTerms {
    initial_ms?: number;
    increment_ms?: number;
    move_ms?: number;
    days?: number;
    bank_days?: number;
  }

  /** The room was closed. `reason` is for people; `code` and `data` say the same for programs. */
  interface Closed {
    type: "closed";
    room: string;
    reason: string;
    code: string;
    data: { [key: string]: string | number | boolean | (string | number)[] | null };
  }

  /** Opens a room and takes a seat in it. Attributes: seat: The mark to play, by default the first. bots: The levels of the server's bots that take seats. analysis: `open` lets everyone in the room see the analysis of the running game. chat: `all` lets players and watchers chat, `players` only players. guests: The names of further players at the sender's keyboard; they take the next seats. */
  interface Create {
    type: "create";
    rules?: string | RulesFields;
    visibility?: "private" | "public";
    clock?: ClockFields | null;
    seat?: string;
    bots?: string[];
    analysis?: "closed" | "open";
    chat?: "all" | "players";
    rated?: boolean;
    guests?: string[];
    id?: string;
  }

  /** A device of the player. Attributes: seen: The day of its last use, UTC. current: Whether it is the device that sent the request. client: The program that it used last, browsers in the language of `Hello`. new: Whether it was added less than three days ago, and after the device that sent the request. */
  interface Device {
    id: string;
    seen: string;
    current?: boolean;
    client?: string;
    new?: boolean;
  }

  /** Asks for the list of the player's devices. */
  interface Devices {
    type: "devices";
    id?: string;
  }

  /** Offers a draw, or answers an offer. Idempotent if it has `game` and `ply`. */
  interface Draw {
    type: "draw";
    room: string;
    action: "accept" | "decline" | "offer";
    game?: number;
    ply?: number;
    id?: string;
    player?: string;
  }

  /** Asks for the QR code of a text, such as a link with a secret, which must not be in the path of a picture. */
  interface DrawQr {
    type: "qr";
    text: string;
    id?: string;
  }

  /** The results of the player who sent the request against another player. Attributes: last: The end of their newest game, in ms since 1970. */
  interface Encounters {
    wins: number;
    draws: number;
    losses: number;
    last: number;
  }

  /** An offer that was declined or withdrawn. Attributes: by: The mark that declined or withdrew it. how: `declined` or `withdrawn`. */
  interface EndedOffer {
    by: string;
    how: string;
  }

  /** The reply to a request that was refused and changed nothing. Attributes: code: An `ErrorCode`, or a code that only newer servers send. message: A sentence for people. path: The invalid field of the request. retry_ms: The time to wait before the request is sent again. url: The server that has the room; only with the code `moved`. data: The values in the message; left out if the error would be too long. */
  interface Error {
    type: "error";
    id?: string;
    code: string;
    message: string;
    room?: string;
    path?: string;
    retry_ms?: number;
    url?: string;
    data?: { [key: string]: string | number | boolean | (string | number)[] | null };
  }

  /** The progress of the game in an open pairing. */
  interface EventGame {
    ply: number;
    turn: string | null;
    clock?: ClockState;
  }

  /** The terms of a tournament; see `EventOpen` for its options. Attributes: organisers: The ids of the organisers. players: The number of entrants. present: The number of entrants who are connected. rounds: The total number of rounds, or 0 while it is unknown. expected: The number of people in the roster who have not entered yet and still may. */
  interface EventHead {
    title: string;
    kind: string;
    rules: RulesState;
    clock: ClockTerms;
    organisers: string[];
    players: number;
    present: number;
    rounds?: number;
    double?: boolean;
    entry?: string;
    size?: number;
    start?: string;
    advance?: string;
    ready_ms?: number;
    late_until?: number;
    break_ms?: number;
    expected?: number;
  }

  /** Enters a tournament, or returns to it. Attributes: ticket: The code of the tournament or of a card; required unless the tournament is open to everyone. name: The player's name in this tournament. A card has its own name. here: Whether to take over a card that is in use on another device. */
  interface EventJoin {
    type: "event_join";
    event: string;
    ticket?: string;
    name?: string;
    here?: boolean;
    id?: string;
  }

  /** Leaves a tournament, and forfeits a running game in it. */
  interface EventLeave {
    type: "event_leave";
    event: string;
    id?: string;
  }

  /** A match in a knock-out. Attributes: players: The ids of both players, each None until it is known; a single player has a bye. names: The names of the players, in the order of `players`. points: The points of the players, in the order of `players`. goes_on: The id of the winner, or None until the match is decided. by: `draw` if the match was level and the players' starting numbers decided it. */
  interface EventMatch {
    players: (string | null)[];
    names: (string | null)[];
    points?: number[];
    goes_on?: string | null;
    by?: string | null;
  }

  /** Opens a tournament with the sender as its organiser. Attributes: double: Whether the players in a round robin meet twice. rounds: The number of rounds, only for a Swiss. entry: `open` lets everyone enter, `code` people with the `ticket` in the reply, and `roster` the people named in `roster`, each with a card. bots: The levels of the server's bots that take part. start: `full` starts the tournament when `size` players have entered, `hand` when the organiser begins it. advance: `auto` starts the next round `break_ms` after the last result, `hand` when the organiser does. ready_ms: The time for each player's first move. late_until: The last round that still lets new players enter. */
  interface EventOpen {
    type: "event_open";
    kind: "knock_out" | "round_robin" | "swiss";
    title: string;
    clock: ClockFields;
    rules?: string | RulesFields;
    double?: boolean;
    rounds?: number;
    entry?: "code" | "open" | "roster";
    roster?: string[];
    bots?: string[];
    start?: "full" | "hand";
    size?: number;
    advance?: "auto" | "hand";
    ready_ms?: number;
    late_until?: number;
    break_ms?: number;
    chat?: "all" | "players";
    id?: string;
  }

  /** A pairing in a tournament. Attributes: players: The ids of the players by mark; a single player has a bye. names: The names of the players by mark. result: The winner's mark, `draw`, or `none` for 0-0. reason: How the game ended. by: What decided the result. game_id: The id of the game, once it is over. room: The code of the room, which may have closed. */
  interface EventPairing {
    id: string;
    round: number;
    players: { [key: string]: string };
    names: { [key: string]: string };
    state: string;
    result?: string | null;
    reason?: string | null;
    by?: string | null;
    game_id?: string | null;
    room?: string;
  }

  /** Asks what a tournament with these terms would be, without opening it; see `EventOpen`. Attributes: roster: A pasted list of names, or of people in columns. */
  interface EventPlan {
    type: "event_plan";
    kind: "knock_out" | "round_robin" | "swiss";
    clock: ClockFields;
    rules?: string | RulesFields;
    double?: boolean;
    rounds?: number;
    roster?: string;
    bots?: string[];
    break_ms?: number;
    id?: string;
  }

  /** Pauses the sender, whom a Swiss then pairs only if the others need it, or with `on` true ends the pause. */
  interface EventReady {
    type: "event_ready";
    event: string;
    on: boolean;
    id?: string;
  }

  /** A row of the table. Attributes: player: The id of the player. played: The number of games played. tie: The tie-breaks, each with its name, its value, and the sum that produced the value. */
  interface EventRow {
    place: number;
    player: string;
    name: string;
    bot: string | null;
    points: number;
    played: number;
    tie: ([string, number, string])[];
    status?: string;
  }

  /** The changes to a tournament since the previous message: the changed rows of the table and pairings. `needed`, `away` and `games` are complete and left out if empty; `bracket` and `may` are left out if unchanged. */
  interface EventRows {
    type: "event_rows";
    event: string;
    seq: number;
    status: string;
    round: number;
    due_ms: number | null;
    present: number;
    rows: EventRow[];
    pairings: EventPairing[];
    needed?: number;
    away?: { [key: string]: number };
    games?: { [key: string]: EventGame };
    bracket?: EventMatch[][];
    may?: { [key: string]: string[] };
  }

  /** Runs a tournament as its organiser. Attributes: seq: The `seq` of the newest state that the sender has seen. action: What to do. `cards` returns the cards of the roster. player: The player to expel, or the loser of the `pairing`. pairing: The pairing to forfeit or to make void. name: The name to add to the roster, or, with `expel` and no player, the unused name to remove from it. */
  interface EventRun {
    type: "event_run";
    event: string;
    seq: number;
    action: "add" | "begin" | "cards" | "close" | "expel" | "forfeit" | "next" | "pause" | "resume" | "void";
    player?: string;
    pairing?: string;
    name?: string;
    id?: string;
  }

  /** The state of a tournament. Attributes: event: The code of the tournament. due_ms: The time until the next round begins or the current wait ends, or None if nothing is due. table: The top of the table, and the recipient's row. pairings: The pairings in this round, the recipient's first. needed: If the tournament is paused because all players were absent, the number of players who must be present for it to go on; otherwise left out. expected: The names in the roster that have not entered yet; left out if there are none. away: How long each absent player has been disconnected, in ms by player id; left out if all are present. games: The running games by the id of their pairing; left out if there are none. bracket: The last rounds of a knock-out, and the rounds to come. key: The wall key, if the server hides names; left out for recipients who may not see them. may: The possible requests, in display order, of an `organiser`, of a player by status, of the holder of an unused `card`, and of others under "". */
  interface EventState {
    type: "event";
    event: string;
    seq: number;
    status: string;
    round: number;
    due_ms: number | null;
    head: EventHead;
    table: EventRow[];
    pairings: EventPairing[];
    needed?: number;
    expected?: string[];
    away?: { [key: string]: number };
    games?: { [key: string]: EventGame };
    bracket?: EventMatch[][];
    key?: string;
    may?: { [key: string]: string[] };
  }

  /** A row in the list of tournaments; `players` is the number of entrants. */
  interface EventSummary {
    event: string;
    title: string;
    kind: string;
    status: string;
    round: number;
    players: number;
  }

  /** Subscribes to the states of a tournament, or ends the subscription. Attributes: on: True to subscribe, False to unsubscribe. key: The secret key for a display on a wall, or the tournament's `ticket`. Only servers that hide names need one of them, to send the names. */
  interface EventWatch {
    type: "event_watch";
    event: string;
    on: boolean;
    key?: string;
    id?: string;
  }

  /** Asks for the open and running tournaments. */
  interface Events {
    type: "events";
    id?: string;
  }

  /** Asks for all stored data about the player, or with `before`, a `game_id`, for the games before that game. */
  interface Export {
    type: "export";
    before?: string;
    id?: string;
  }

  /** Deletes the player's name, devices and codes. Their games remain under another name. */
  interface Forget {
    type: "forget";
    id?: string;
  }

  /** An event in the change to a state. `type` says which of the other fields there are. - `moved`: `mark` was placed on `cell`; in an opening, `by` is the mark of the player, if it is another one. - `chose`: the player who had `mark` chose `take` in the opening: a mark or `more`. Taking the other mark swaps the seats. - `out`: the player with `mark` is out of this game; `why` is the reason. - `offered`, `declined`, `withdrawn`: `mark` offered a draw, an undo of `cells` or a rematch (`kind`), or ended such an offer. - `lapsed`: the offer of `mark` ended because of a `move` or a `taking back` (`why`) or another event. - `taken back`: the moves on `cells` were taken back, as `mark` had asked. - `joined`, `left`, `dropped`, `back`: a player took a seat, left it for good, lost the connection, or came back; the first two have a `name`. - `renamed`: the player with `mark`, who was called `before`, is called `name` now. - `ended`: the game ended with `result`. - `began`: the game with the number `game` began. In a later game of the room, the seats may have moved on. */
  interface Happening {
    type: string;
    mark?: string;
    why?: string;
    take?: string;
    cell?: number;
    by?: string;
    kind?: string;
    cells?: number[];
    name?: string;
    before?: string;
    result?: Result;
    game?: number;
  }

  /** A seat that the player holds in a room whose game is not over. Attributes: seat: The player's mark. names: The names of the players by mark; empty for a game over days that nobody has open. turn: The mark to move, or None while the room is waiting; left out if another server has the room. */
  interface HeldSeat {
    room: string;
    seat: string;
    rules: RulesState;
    names: { [key: string]: string };
    turn?: string | null;
  }

  /** Identifies the player. This is the first request on every connection. Attributes: token: The secret in an earlier `welcome`, which makes this connection the same player again. client: The name of the client program. language: The language of the texts that the server makes for this connection, such as `de`. bot: Whether the player is a program; others see that it is one. link: A code from another device of the player, used instead of a token. rescue: A code that was issued when `name` was claimed, used instead of a token. */
  interface Hello {
    type: "hello";
    name?: string;
    token?: string;
    client?: string;
    language?: string;
    bot?: boolean;
    link?: string;
    rescue?: string;
    id?: string;
  }

  /** Asks for the player's finished games, newest first. Attributes: limit: The largest number of games to return. before: A `game_id`; only games that ended before this game are returned. */
  interface History {
    type: "history";
    limit?: number;
    before?: string;
    id?: string;
  }

  /** Takes free seats for the player and the `guests`, or returns to the seats that they hold. Attributes: seq: The `seq` of the newest state of the room that the sender has seen. unreachable: The URL of the server that has the room, if the sender cannot reach it. */
  interface Join {
    type: "join";
    room: string;
    seq?: number;
    unreachable?: string;
    guests?: string[];
    id?: string;
  }

  /** Why a ladder has stopped rating games. Attributes: figure: For `undecided`, how many of the last `of` games were decided; for `advantage`, the advantage of the first move in rating points after `of` games. */
  interface LadderClosing {
    reason: string;
    figure: number;
    of: number;
  }

  /** A row of a leaderboard. Attributes: place: The place, or None if the rating is provisional; such rows are below all others. trend: The change of the rating over the last ten games. */
  interface LadderRow {
    place: number | null;
    player: string;
    name: string;
    rating: number;
    deviation: number;
    games: number;
    trend: number;
  }

  /** A player's record in one ladder. Attributes: rules: The key of the ladder, which is the name of its rules. provisional: Whether the rating is uncertain; clients show it with a question mark. place: The player's place on the leaderboard, if there is one. */
  interface LadderStanding {
    rules: string;
    wins: number;
    draws: number;
    losses: number;
    rating: number;
    deviation: number;
    provisional?: boolean;
    place?: number;
  }

  /** A part of a ladder. Attributes: rules: The key of the ladder, which is the name of its rules. games: The number of rated games. advantage: The advantage of the first move in rating points. decided: The share of the last 200 games that were not drawn, from 0 to 1. closed: Why the ladder has stopped rating games, if it has. text: In an answer, the figures and the reason for closing as sentences in the language of `Hello`. */
  interface LadderState {
    rules: string;
    rows: LadderRow[];
    games: number;
    advantage: number;
    decided: number;
    closed?: LadderClosing;
    text?: string[];
  }

  /** Stops watching, frees a seat in a waiting room, or resigns and leaves. The sender's guests leave, too. */
  interface Leave {
    type: "leave";
    room: string;
    id?: string;
    player?: string;
  }

  /** Asks for a code that connects another device as this player. */
  interface LinkDevice {
    type: "link";
    id?: string;
  }

  /** The board of a public game; other fields are as in `RoomState`. Attributes: names: The names of the players by mark. result: The result, once the game is over. clock: The clock at the last change of the board, if the room has a clock. */
  interface LiveBoard {
    room: string;
    game: number;
    preset: string | null;
    rows: number;
    columns: number;
    board: string;
    ply: number;
    turn: string | null;
    last: number | null;
    names: { [key: string]: string };
    result?: Result;
    clock?: ClockState;
  }

  /** The boards of running public games, which replace all boards sent earlier. Attributes: demo: A game between bots, if there is no other board and the subscriber asked for it. Its `room` is empty. */
  interface LiveBoards {
    type: "boards";
    boards: LiveBoard[];
    demo?: LiveBoard;
  }

  /** Subscribes to changes to the list of public rooms, or ends the subscription. Attributes: boards: The number of running games whose boards are sent, too. demo: Whether to send a game between bots if there is no other board. */
  interface Lobby {
    type: "lobby";
    on: boolean;
    boards?: number;
    demo?: boolean;
    id?: string;
  }

  /** The changes to the list of public rooms since the previous message. Attributes: changed: The new and changed rows. closed: The codes of the rooms that are no longer in the list. */
  interface LobbyChange {
    type: "lobby";
    changed: RoomSummary[];
    closed: string[];
  }

  /** Joins a waiting public room with the same rules, clock and `rated`, or opens such a room. If there are several rooms, it joins the oldest one, or of rated rooms the one whose player has the nearest rating. */
  interface Match {
    type: "match";
    rules?: string | RulesFields;
    clock?: ClockFields | null;
    rated?: boolean;
    id?: string;
  }

  /** Plays `cell` (row-major from 0) as move number `ply` (from 0). */
  interface Move {
    type: "move";
    room: string;
    cell: number;
    ply: number;
    id?: string;
    player?: string;
  }

  /** Another server has taken over the room; players and watchers continue at `url`. */
  interface Moved {
    type: "moved";
    room: string;
    url: string;
  }

  /** The server is shutting down. Attributes: code: `restarting`, to reconnect after `retry_ms`, or `stopping`, not to reconnect. in_ms: The longest time that the server waits for running games to end, or None for no limit; left out if it does not wait. */
  interface Notice {
    type: "notice";
    code: string;
    retry_ms: number;
    in_ms?: number | null;
  }

  /** Chooses how the player hears of games that await a move. Fields that are left out stay as they are. Attributes: feed: Whether there is an Atom feed with a secret address; False revokes the address. webhook: The https address that gets each message; None for no webhook. push: The browser's subscription to push messages; None for none. quiet: The minutes of the day (UTC) when quiet hours begin and end; None for no quiet hours. */
  interface Notify {
    type: "notify";
    feed?: boolean;
    webhook?: string | null;
    push?: PushSubscription | null;
    quiet?: [number, number] | null;
    id?: string;
  }

  /** The open offers. Attributes: draw: The mark that offers a draw, or None. undo: The mark that asks to take back a move, or None. rematch: The marks that have asked for a rematch. ended: The offers declined or withdrawn in this position, by kind; left out if there are none. */
  interface Offers {
    draw?: string | null;
    undo?: string | null;
    rematch?: string[];
    ended?: { [key: string]: EndedOffer };
  }

  /** The reply to a request that was carried out. Its fields depend on the request. Attributes: seats: The marks of the player and their guests, if there are guests. online: The number of people connected to this server, including the player. feed: The address of the player's Atom feed, or False without one. quiet: The minutes of the day (UTC) when the player's quiet hours begin and end. plan: The player's conditional moves. qr: A data URL with an SVG image. push_key: The server's public key for subscriptions to push messages, in base64url. */
  interface Ok {
    type: "ok";
    id: string;
    room?: string;
    seat?: string | null;
    seats?: string[];
    rooms?: RoomSummary[];
    online?: number;
    time?: number;
    games?: PastGame[];
    record?: string;
    played?: PlayedGame;
    analysis?: AnalysisState;
    replay?: string;
    link?: string;
    event?: string;
    events?: EventSummary[];
    event_plan?: PlannedEvent;
    ticket?: string;
    cards?: Card[];
    rescue?: string[];
    link_code?: string;
    expires_ms?: number;
    devices?: Device[];
    claimed?: string;
    codes_left?: number;
    export?: { [key: string]: unknown };
    before?: string;
    challenge?: string;
    blocks?: string[];
    strangers?: boolean;
    rated?: boolean;
    ladder?: LadderState;
    profile?: PlayerProfile;
    feed?: string | boolean;
    webhook?: string | null;
    push?: { [key: string]: unknown } | null;
    push_key?: string;
    quiet?: [number, number] | null;
    plan?: number[][];
    qr?: string;
  }

  /** A challenge that can still be accepted. Attributes: challenge: The id of the challenge. player: The id of the challenger. name: The name of the challenger. to: The id of the challenged player. side: The mark for the challenger; left out if the marks are random. expires_ms: The time left for accepting it. */
  interface OpenChallenge {
    challenge: string;
    player: string;
    name: string;
    to: string;
    rules: RulesState;
    clock: ClockTerms | null;
    rated?: boolean;
    side?: string;
    expires_ms: number;
  }

  /** A choice in an opening. Attributes: ply: The number of moves before the choice. by: The current mark of the player who chose. mark: The mark that the player had before. take: The chosen mark, or `more`. */
  interface OpeningChoice {
    ply: number;
    by: string;
    mark: string;
    take: string;
  }

  /** An undecided opening and the next step of the player to move. Attributes: rule: `pie` or `swap2`. step: `place` a mark, or `choose` one of the `options`. places: The mark to place next; None in the step `choose`. left: The number of marks to place before the next choice. options: The options to choose from: marks, and possibly `more`; empty in the step `place`. */
  interface OpeningState {
    rule: string;
    step: string;
    places: string | null;
    left: number;
    options: string[];
  }

  /** A finished game in a player's history. Attributes: at: The end of the game, in ms since 1970. players: The players by mark. moves: The number of moves. event: The code of the tournament, for a tournament game. pairing: The id of the pairing, for a tournament game. */
  interface PastGame {
    game_id: string;
    room: string;
    game: number;
    at: number;
    rules: RulesState;
    players: { [key: string]: PastPlayer };
    result: Result;
    moves: number;
    event?: string;
    pairing?: string;
  }

  /** A player in a finished game, with the name at that time; `bot` is as in `SeatState`. */
  interface PastPlayer {
    player: string;
    name: string;
    bot?: string | null;
  }

  /** Asks for the server's time. */
  interface Ping {
    type: "ping";
    id?: string;
  }

  /** Stores moves that the server plays for the player as soon as they apply, or asks for the stored ones. Attributes: moves: Branches of cells, each from the next move of the game on, in turn of all players; an empty list deletes the plan. Left out to ask for it. player: The id of the player's guest who plans. */
  interface Plan {
    type: "plan";
    room: string;
    moves?: number[][];
    player?: string;
    id?: string;
  }

  /** What a tournament would be. Attributes: names: The names in the roster. kind: The requested kind, or `swiss` if only a Swiss takes this many players. text: Players, rounds and rough duration in the language of `Hello`; "" for fewer than two players. */
  interface PlannedEvent {
    names: string[];
    kind: string;
    text: string;
  }

  /** A finished game with its moves; all other fields are as in `PastGame`. Attributes: board: The final board. moves: The cells played, in order. passed: The players who were skipped, each as the number of moves made before and the mark. chosen: What was chosen in the opening, in order; `choices` and `placed` are as in `RoomState`. */
  interface PlayedGame {
    game_id: string;
    room: string;
    game: number;
    at: number;
    rules: RulesState;
    players: { [key: string]: PastPlayer };
    board: string;
    moves: number[];
    result: Result;
    passed?: ([number, string])[];
    chosen?: string[];
    event?: string;
    pairing?: string;
    choices?: OpeningChoice[];
    placed?: string;
  }

  /** A judgement of the move that was played. Attributes: kind: A mistake gives away a win or a draw, a slip something less; other moves are the best or fine. lost: How much the value of the position fell, from 0 to 2. text: A comparison with the best move, or "". */
  interface PlayedMove {
    kind: "best" | "fine" | "mistake" | "slip";
    lost: number;
    text: string;
  }

  /** A player's ladders and rated games. Attributes: games: Up to 20 rated games, newest first. with_: The results of the player who sent the request against this player. text: In an answer, `with_` as a sentence in the language of `Hello`, or "". */
  interface PlayerProfile {
    player: string;
    name: string;
    ladders: LadderStanding[];
    games: PastGame[];
    with?: Encounters;
    text?: string;
  }

  /** Asks for the ladders and rated games of a player, given by id or claimed name. */
  interface Profile {
    type: "profile";
    player: string;
    id?: string;
  }

  /** The keys of a browser that encrypt a push message, in base64url: its public key, and its secret. */
  interface PushKeys {
    p256dh: string;
    auth: string;
  }

  /** A browser's subscription to push messages, as its `PushSubscription.toJSON` returns it. */
  interface PushSubscription {
    endpoint: string;
    keys: PushKeys;
    expirationTime?: number | null;
  }

  /** A game was rated. Attributes: rules: The key of the ladder. players: The changes of the players' ratings, by player id. */
  interface Rated {
    type: "rated";
    room: string;
    game: number;
    rules: string;
    players: { [key: string]: RatingChange };
  }

  /** The change of a player's rating by a game. Attributes: before: The rating before the game. after: The rating after the game. expected: The expected score before the game, from 0 to 1. provisional: Whether the rating after the game is provisional; see `LadderStanding`. */
  interface RatingChange {
    before: number;
    after: number;
    expected: number;
    provisional?: boolean;
  }

  /** Asks for a part of a ladder. Attributes: around: The id of a player, for the rows around that player. top: The number of best players, if `around` is left out. */
  interface Ratings {
    type: "ratings";
    rules: string | RulesFields;
    around?: string;
    top?: number;
    id?: string;
  }

  /** Asks for a finished game with its moves. */
  interface Record {
    type: "record";
    game_id: string;
    id?: string;
  }

  /** Asks for another game in the room, or agrees. Idempotent if it has `game`, the number of the finished game. */
  interface Rematch {
    type: "rematch";
    room: string;
    game?: number;
    id?: string;
    player?: string;
  }

  /** A newer connection of the same player has taken over the seat. Attributes: by_card: Whether another player has the seat instead, who used the same card of a tournament. */
  interface Replaced {
    type: "replaced";
    room: string;
    by_card?: boolean;
  }

  /** Resigns the game. */
  interface Resign {
    type: "resign";
    room: string;
    id?: string;
    player?: string;
  }

  /** How a game ended. Attributes: winner: The winner's mark, or None if there is no winner. line: Every cell of the deciding lines; empty if no line decided. */
  interface Result {
    winner: string | null;
    reason: string;
    line?: number[];
  }

  /** Asks for the analysis of a position in a finished game. Attributes: game_id: The id of a game of the player. replay: The id of a shared game, instead of `game_id`. ply: The number of moves before the position, by default all. stones: Whether texts call the marks black and white. */
  interface Review {
    type: "review";
    game_id?: string;
    replay?: string;
    ply?: number;
    stones?: boolean;
    id?: string;
  }

  /** Logs a device out. `device` is its id in the list of devices. */
  interface Revoke {
    type: "revoke";
    device: string;
    id?: string;
  }

  /** The complete state of a room, the same for all players and watchers. See `docs/reference/protocol.md`. Attributes: seq: The number of the state, which grows with every change. game: The number of the game in this room, from 1. ply: The number of moves on the board. turn: The mark to move, or None. last: The cell of the last move, or None. seats: The player of each mark, or None for a free seat. score: The number of games won, by player id, and under `draws` the number of draws. analysis: `open` if the room was opened with this option, otherwise left out. chat: `players` if the room was opened with this option, otherwise left out. moves: The cells played in the current game, in order. may: The names of the requests that each mark may make now, in display order. Empty for free seats. news: The events in the change to this `seq`, in display order. opening: The opening, while it is undecided. chosen: What was chosen in the opening, in order. choices: The same choices, with the players who made them. placed: The current mark of the player who made each move of the opening. event: The code of the tournament, in a room for a tournament game. pairing: The id of the pairing, in a room for a tournament game. game_id: The id of the game, once it is over and stored. rated: True if the games in this room are rated, otherwise left out. since: For watchers, the `seq` that the news follow, if states in between were not sent. */
  interface RoomState {
    type: "room";
    room: string;
    seq: number;
    status: string;
    visibility: string;
    game: number;
    rules: RulesState;
    board: string;
    ply: number;
    turn: string | null;
    last: number | null;
    seats: { [key: string]: SeatState | null };
    result: Result | null;
    offers: Offers;
    clock: ClockState | null;
    watchers: number;
    score: { [key: string]: number };
    time_control?: ClockTerms | null;
    moves?: number[];
    may?: { [key: string]: string[] };
    news?: Happening[];
    analysis?: string;
    chat?: string;
    opening?: OpeningState;
    chosen?: string[];
    event?: string;
    pairing?: string;
    game_id?: string;
    rated?: boolean;
    since?: number;
    choices?: OpeningChoice[];
    placed?: string;
  }

  /** A row in the list of public rooms. Attributes: seats: The player of each mark, or None for a free seat. age_ms: The time since the room was opened. host_rating: The rounded rating of the player who is waiting in a rated room. host_provisional: True if that rating is provisional; clients show it with a question mark. */
  interface RoomSummary {
    room: string;
    status: string;
    rules: RulesState;
    clock: ClockTerms | null;
    seats: { [key: string]: SeatState | null };
    ply: number;
    watchers: number;
    age_ms: number;
    analysis?: string;
    rated?: boolean;
    host_rating?: number;
    host_provisional?: boolean;
  }

  /** Asks for the list of public rooms. */
  interface Rooms {
    type: "rooms";
    id?: string;
  }

  /** Rules spelled out in a request. Missing fields are as in `classic`. `to_rules` checks them. */
  interface RulesFields {
    rows?: number;
    columns?: number;
    line?: number;
    marks?: string;
    blocked?: number[];
    misere?: boolean;
    gravity?: boolean;
    exact?: boolean;
    opening?: string | null;
  }

  /** The rules in a push. Attributes: preset: The name of the rules, or None if they have no name. blocked: The blocked cells, ascending. exact: Left out if false. opening: Left out if the rules have no opening. */
  interface RulesState {
    preset: string | null;
    rows: number;
    columns: number;
    line: number;
    marks: string;
    blocked: number[];
    misere: boolean;
    gravity: boolean;
    exact?: boolean;
    opening?: string | null;
  }

  /** The player who holds a seat. Attributes: player: The id of the player. online: Whether the player is connected. bot: The level of a server's bot, `GUEST` for another program, or None for a person. hold_ms: For a disconnected player, how long the seat is still held. left: Whether the player has left for good. out: Whether the player is skipped in the current game. */
  interface SeatState {
    player: string;
    name: string;
    online: boolean;
    bot: string | null;
    hold_ms?: number;
    left?: boolean;
    out?: boolean;
  }

  /** Creates a link to a finished game that anyone can open, or with `on` false withdraws it. */
  interface Share {
    type: "share";
    game_id: string;
    on?: boolean;
    id?: string;
  }

  /** Asks for the current state of a room again. */
  interface Sync {
    type: "sync";
    room: string;
    id?: string;
  }

  /** A game over days in which it is the recipient's turn. Attributes: since_ms: How long it has been the recipient's turn. left_ms: The time left for the move, with the reserve. */
  interface Turn {
    room: string;
    rules: RulesState;
    since_ms: number;
    left_ms: number;
  }

  /** The games over days that await the recipient's move, the longest wait first; sent whenever they change. */
  interface Turns {
    type: "turns";
    turns: Turn[];
  }

  /** Asks to take back the sender's last move, or answers such a request. Idempotent if it has `game` and `ply`. */
  interface Undo {
    type: "undo";
    room: string;
    action: "accept" | "decline" | "offer";
    game?: number;
    ply?: number;
    id?: string;
    player?: string;
  }

  /** Watches a room; `seq` is the same as in `Join`. */
  interface Watch {
    type: "watch";
    room: string;
    seq?: number;
    id?: string;
  }

  /** The reply to `Hello`. It also tells clients which features the operator has switched off. Attributes: protocol: The version of the protocol. server: The name and version of the server program. player: The player's public id. token: The secret that makes a later connection the same player again. rooms: The player's seats in rooms whose games are not over. hold_ms: How long this server holds the seat of a disconnected player. sharing: Whether finished games can be shared. ladders: The names of the rules that have a ladder; empty if no games are rated. held_ms: For the rooms that the player is away from, how long the player's seat is still held, by room code. servers: The URLs of the running servers in the cluster, this server first; left out by a single server. cluster: The id of the cluster. Players and tokens are valid on all of its servers. calls: The tournament games that wait for the player. claimed: True if the player has claimed this `name`, false if another player has, otherwise left out. device_news: `device_added` or `device_refused` if the player has to know about newer devices. title: The server's name, chosen by its operator. greeting: A welcome text by the operator, which may have several lines. chat: `off` or `sentences` if chat is restricted. names: `given` if the server assigns the names of its players. opens_events: False if the operator has not allowed this player to open tournaments, otherwise left out. challenges: The open challenges to and from the player; left out if the server has no challenges. turns: The games over days that await the player's move, the longest wait first; left out if the server has no such games. */
  interface Welcome {
    type: "welcome";
    protocol: number;
    server: string;
    player: string;
    name: string;
    token: string;
    rooms: HeldSeat[];
    hold_ms: number;
    sharing: boolean;
    ladders: string[];
    held_ms?: { [key: string]: number };
    id?: string;
    servers?: string[];
    cluster?: string;
    calls?: Call[];
    claimed?: boolean;
    device_news?: string;
    title?: string;
    greeting?: string;
    chat?: string;
    names?: string;
    opens_events?: boolean;
    challenges?: OpenChallenge[];
    turns?: Turn[];
  }

  type Request = Hello | Create | Match | Join | Watch | Leave | Move | Choose | Resign | Draw | Undo | Claim | Rematch | Chat | Rooms | Lobby | Sync | Ping | History | Record | Share | Analyse | Review | DrawQr | EventOpen | EventPlan | EventJoin | EventLeave | EventReady | EventRun | EventWatch | Events | ClaimName | LinkDevice | Devices | Revoke | Forget | Export | Challenge | Answer | Block | Ratings | Profile | Notify | Plan;

  type Push = Welcome | Ok | Error | RoomState | ChatLine | LobbyChange | LiveBoards | Replaced | Moved | Closed | Notice | Announcement | EventState | EventRows | Call | Challenged | ChallengeOver | Rated | Turns;
}

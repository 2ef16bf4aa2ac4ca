// The messages of docs/protocol.md, made by `python -m tools.protocol_types`.
declare namespace Protocol {
  /** Asks for the analysis of the room's position, the current one or the one after `ply` moves. */
  interface Analyse {
    type: "analyse";
    room: string;
    ply?: number;
    id?: string;
  }

  /** The analysis of the position after `ply` moves. Attributes: turn: The mark to move, None at the end of the game. value: The value for `turn`. cells: The value of each legal cell; empty at the end of the game, and while a choice is due. best: The best cells; empty if the value is unknown and more than half of the cells look equal. solved: Whether every value is exact. options: The value of each choice of an opening, while one is due; `best_options` are the best ones. before: The analysis before the choice, if one was made at this `ply`. */
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
  }

  /** A message of the operator to all players, or with a `code` of the server to this player. Attributes: at: Milliseconds since the epoch. */
  interface Announcement {
    type: "announcement";
    text: string;
    at: number;
    code?: string;
  }

  /** Accepts or declines a challenge; the challenger withdraws it with `accept` false. */
  interface Answer {
    type: "answer";
    challenge: string;
    accept: boolean;
    id?: string;
  }

  /** Blocks a player, whose challenges and chat are hidden, or ends the block; without a player it lists blocks. Attributes: strangers: True blocks challenges from people whom the sender has not played, false allows them again. */
  interface Block {
    type: "block";
    player?: string;
    on?: boolean;
    strangers?: boolean;
    id?: string;
  }

  /** A call to a board: the player has `due_ms` to join the room and play `mark`. */
  interface Call {
    type: "call";
    event: string;
    pairing: string;
    room: string;
    mark: string;
    against: string;
    due_ms: number;
  }

  /** A card: the `ticket` admits the roster's player of this `name`. */
  interface Card {
    name: string;
    ticket: string;
  }

  /** The value of a position or a move for the player to move. Attributes: plies: For `win` and `loss`, the number of moves until the end, by all players. estimate: From -1 (lost) to 1 (won); exact unless the kind is `unknown`. */
  interface CellValue {
    kind: string;
    plies?: number | null;
    estimate?: number;
  }

  /** Asks a player for a game. The challenger plays the mark `side`, or a random mark. */
  interface Challenge {
    type: "challenge";
    player: string;
    rules?: string | RulesFields;
    clock?: ClockFields | null;
    rated?: boolean;
    side?: string;
    id?: string;
  }

  /** The end of a challenge made by or to this player; `room` is where both have a seat if it was accepted. */
  interface ChallengeOver {
    type: "challenge_over";
    challenge: string;
    how: string;
    room?: string;
  }

  /** A new challenge to this player, or made by this player on another connection. */
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

  /** Says a text or a sentence, by its id, to everybody in the room. Longer texts than 200 characters are refused with `too_long`. */
  interface Chat {
    type: "chat";
    room: string;
    text?: string;
    sentence?: "again" | "hello" | "luck" | "moment" | "nice" | "oops" | "thanks" | "well_played";
    id?: string;
  }

  /** Something said in a room. Attributes: from_: The sender's name. seat: The sender's mark, None for a watcher. text: The text, or the English of the `sentence`. at: Milliseconds since the epoch. player: The sender's public id. */
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

  /** Takes a side in an opening, by its mark, or `more`, after `ply` moves. */
  interface Choose {
    type: "choose";
    room: string;
    take: string;
    ply: number;
    id?: string;
    player?: string;
  }

  /** Ends a game whose opponent has been away longer than the hold. */
  interface Claim {
    type: "claim";
    room: string;
    as: "draw" | "win";
    id?: string;
    player?: string;
  }

  /** Claims a name for the player; the answer has codes that restore it. */
  interface ClaimName {
    type: "claim_name";
    name: string;
    id?: string;
  }

  /** The clock that a request asks for: one for each seat (with an increment a move) or one for each move. */
  interface ClockFields {
    initial_ms?: number;
    increment_ms?: number;
    move_ms?: number;
  }

  /** The clock of a running game, as of sending. Attributes: remaining_ms: The time left, by mark. running: The mark whose clock runs, or None. start_ms: The time left for a first move, only while one is due. */
  interface ClockState {
    remaining_ms: { [key: string]: number };
    running: string | null;
    start_ms?: number;
  }

  /** A clock for each seat (`initial_ms` with `increment_ms` a move) or for each move (`move_ms`). */
  interface ClockTerms {
    initial_ms?: number;
    increment_ms?: number;
    move_ms?: number;
  }

  /** The room is gone; `reason` is for people, `code` and `data` say the same for programs. */
  interface Closed {
    type: "closed";
    room: string;
    reason: string;
    code: string;
    data: { [key: string]: string | number | boolean | (string | number)[] | null };
  }

  /** Opens a room and takes a seat in it; `guests` take the next ones. */
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

  /** A device of the player. Attributes: seen: The last day of use, UTC. current: Whether it is the asking device. client: The program that it last used. new: Whether it was added less than three days ago, and after the asking device. */
  interface Device {
    id: string;
    seen: string;
    current?: boolean;
    client?: string;
    new?: boolean;
  }

  /** Asks for the player's devices. */
  interface Devices {
    type: "devices";
    id?: string;
  }

  /** Offers a draw, or answers an offer; idempotent with `game` and `ply`. */
  interface Draw {
    type: "draw";
    room: string;
    action: "accept" | "decline" | "offer";
    game?: number;
    ply?: number;
    id?: string;
    player?: string;
  }

  /** The asking player's results against another player; `last` is the end of the newest game in ms since 1970. */
  interface Encounters {
    wins: number;
    draws: number;
    losses: number;
    last: number;
  }

  /** An offer that was declined by the mark `by`, or withdrawn by its maker. */
  interface EndedOffer {
    by: string;
    how: string;
  }

  /** A request was refused and changed nothing. Attributes: code: One of `ErrorCode`, or unknown to this client. url: Only with `moved`: the server that has the room. data: The parts of the message; left out if the error would be too long. */
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

  /** The progress of an open pairing's game. */
  interface EventGame {
    ply: number;
    turn: string | null;
    clock?: ClockState;
  }

  /** The terms of an event. Attributes: organisers: Ids of the organisers. players: The number of entrants. present: How many of the entrants are connected. rounds: The number of rounds in all, 0 while it is unknown. expected: The number of names of the roster that have not entered yet and still may. */
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

  /** Enters an event. Attributes: ticket: The code of the event or of a card; needed unless the event is open to all. name: The player's name in this event; a card has its own. here: Takes over a card that is in use on another device. */
  interface EventJoin {
    type: "event_join";
    event: string;
    ticket?: string;
    name?: string;
    here?: boolean;
    id?: string;
  }

  /** Leaves an event; a running game is forfeited. */
  interface EventLeave {
    type: "event_leave";
    event: string;
    id?: string;
  }

  /** One match of a knock-out. Attributes: players: The ids of both players, None if undecided; a single player has a bye. names: The names, in the order of `players`. points: The points of both, in the order of `players`. goes_on: The id of the winner, None while undecided. by: `draw` if the players' numbers decided a level match. */
  interface EventMatch {
    players: (string | null)[];
    names: (string | null)[];
    points?: number[];
    goes_on?: string | null;
    by?: string | null;
  }

  /** Opens an event; the sender is its organiser. Attributes: rounds: The number of rounds, for a Swiss only. entry: `open` to all, with a `code` (the `ticket` of the answer), or for the names of the `roster`, each with a card. start: `full` starts the event when `size` players have entered, `hand` when the organiser says so. advance: Whether the next round starts `break_ms` after the last result, or by `hand`. ready_ms: The time within which a first move is due. late_until: The last round before which players may still enter. */
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

  /** A pairing of an event. Attributes: players: Player ids by mark; a single player has a bye. result: A mark, `draw`, or `none` for 0-0. game_id: Only once the game is over. room: Only while the room is open or its game can still be seen. */
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

  /** Pauses the sender's pairings, or ends the pause. */
  interface EventReady {
    type: "event_ready";
    event: string;
    on: boolean;
    id?: string;
  }

  /** One row of the table; each tie-break in `tie` has a name, a value, and the sum that produced it. */
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

  /** The changes of an event since the previous message: rows of the table, and pairings. `needed`, `away` and `games` are complete, and left out if empty; `bracket` is left out if unchanged. */
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
  }

  /** An action of the organiser; `seq` is that of the newest state. `cards` returns the cards of a roster. */
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

  /** An event: the top of the table and the recipient's row, and this round's pairings, the recipient's first. Attributes: due_ms: The time until the next round begins, or until the current wait ends; None if nothing is due. needed: In an event that is paused because no player was present, how many people must be present for it to go on; left out otherwise. expected: Names of the roster that have not entered yet; left out if there are none. away: How long absent players have been disconnected, in ms by player id; left out if there are none. games: The running games by pairing; left out if there are none. bracket: The last rounds of a knock-out and those to come. key: The wall key, on a server that hides names from people without a part in the event; left out for these. */
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
  }

  /** One row of the list of events; `players` is the number of entrants. */
  interface EventSummary {
    event: string;
    title: string;
    kind: string;
    status: string;
    round: number;
    players: number;
  }

  /** Subscribes to an event's states, or ends the subscription. Attributes: key: The event's wall key, or its code, which shows names on a server that hides them. */
  interface EventWatch {
    type: "event_watch";
    event: string;
    on: boolean;
    key?: string;
    id?: string;
  }

  /** Asks for the open and running events. */
  interface Events {
    type: "events";
    id?: string;
  }

  /** Asks for everything stored about the player, or for the games before the `game_id` in `before`. */
  interface Export {
    type: "export";
    before?: string;
    id?: string;
  }

  /** Asks to be forgotten: name, devices and codes are deleted, and games stay under another name. */
  interface Forget {
    type: "forget";
    id?: string;
  }

  /** An event of the change to a state that the state does not show. - `out`: the player of `mark` is out of this game; `why` is the reason. - `chose`: the player who sat at `mark` has taken the side `take` in the opening, or `more`. Taking the other mark swaps the seats. */
  interface Happening {
    type: string;
    mark?: string;
    why?: string;
    take?: string;
  }

  /** A seat that the player holds in an unfinished room. Attributes: names: The names of the players by mark. turn: The mark to move, None while the room waits; left out if another server has the room. */
  interface HeldSeat {
    room: string;
    seat: string;
    rules: RulesState;
    names: { [key: string]: string };
    turn?: string | null;
  }

  /** Says who connects; the first request on every connection. Attributes: token: The secret of an earlier `welcome`: the connection is the same player again. bot: The player is a program, and is shown as one. link: A code made on another device of the player; takes the place of a token. rescue: A code that was issued when the `name` was claimed; takes the place of a token. */
  interface Hello {
    type: "hello";
    name?: string;
    token?: string;
    client?: string;
    bot?: boolean;
    link?: string;
    rescue?: string;
    id?: string;
  }

  /** Asks for the player's finished games, newest first; with `before`, a `game_id`, only older ones. */
  interface History {
    type: "history";
    limit?: number;
    before?: string;
    id?: string;
  }

  /** Takes free seats for the player and the `guests`, or attaches this connection to the seats that they hold. Attributes: seq: The `seq` of the newest state of the room that the sender has seen. unreachable: The URL of the room's server, if it does not answer the sender. */
  interface Join {
    type: "join";
    room: string;
    seq?: number;
    unreachable?: string;
    guests?: string[];
    id?: string;
  }

  /** Why a ladder has stopped rating games. Attributes: figure: How many of the last `of` games were decided, or the advantage in rating points after `of` games. */
  interface LadderClosing {
    reason: string;
    figure: number;
    of: number;
  }

  /** One row of a leaderboard; `trend` is the change of the rating over the last ten games. Attributes: place: None while the rating is provisional; such rows stand below the others. */
  interface LadderRow {
    place: number | null;
    player: string;
    name: string;
    rating: number;
    deviation: number;
    games: number;
    trend: number;
  }

  /** A player's record in one ladder. Attributes: rules: The ladder's key, the name of the rules. provisional: Whether the rating is uncertain; clients show it with a question mark. place: Only if the player has a place on the leaderboard. */
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

  /** A part of a ladder. Attributes: rules: The ladder's key, the name of the rules. games: The number of rated games. advantage: The value of the first move in rating points. decided: The share of the last 200 games that were not drawn. closed: Why the ladder has stopped rating games, if it has. */
  interface LadderState {
    rules: string;
    rows: LadderRow[];
    games: number;
    advantage: number;
    decided: number;
    closed?: LadderClosing;
  }

  /** Stops watching, frees the seat of a waiting room, or resigns and leaves; the sender's guests leave, too. */
  interface Leave {
    type: "leave";
    room: string;
    id?: string;
    player?: string;
  }

  /** Asks for a code that admits another device as this player. */
  interface LinkDevice {
    type: "link";
    id?: string;
  }

  /** The board of a public game; the fields are those of a state. Attributes: names: The players' names by mark. result: Only once the game is over. clock: Only if the room has a clock; as of the last change of this board. */
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

  /** The boards of running public games; they replace all earlier boards. Attributes: demo: A game between bots, for subscribers that asked for one, if there is no other board. Its `room` is empty. */
  interface LiveBoards {
    type: "boards";
    boards: LiveBoard[];
    demo?: LiveBoard;
  }

  /** Subscribes to changes of the list of public rooms, or ends the subscription. Attributes: boards: The number of boards of running games to send. demo: Whether to send a game between bots if there is no other board. */
  interface Lobby {
    type: "lobby";
    on: boolean;
    boards?: number;
    demo?: boolean;
    id?: string;
  }

  /** The changes of the list of public rooms since the previous message. */
  interface LobbyChange {
    type: "lobby";
    changed: RoomSummary[];
    closed: string[];
  }

  /** Joins an open public room with equal rules and clock, rated or not, or opens one. It is the oldest such room; of rated rooms it is the one with the nearest rating. */
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

  /** Another server has the room from now on; players and watchers continue at `url`. */
  interface Moved {
    type: "moved";
    room: string;
    url: string;
  }

  /** The server is going down. Attributes: code: `restarting`: reconnect after `retry_ms`. `stopping`: do not reconnect. in_ms: The server waits for the running games, at most this long; None is without a limit. */
  interface Notice {
    type: "notice";
    code: string;
    retry_ms: number;
    in_ms?: number | null;
  }

  /** The open offers. Attributes: draw: The mark that offers a draw. undo: The mark that asks to take a move back. rematch: The marks that have asked for a rematch. ended: The declined and withdrawn offers of this position, by kind; left out if there are none. */
  interface Offers {
    draw?: string | null;
    undo?: string | null;
    rematch?: string[];
    ended?: { [key: string]: EndedOffer };
  }

  /** A request was carried out; the fields depend on the request. Attributes: seats: The marks of the player and the guests, if there are guests. online: The number of people connected to this server, the player included. */
  interface Ok {
    type: "ok";
    id: string;
    room?: string;
    seat?: string | null;
    seats?: string[];
    moves?: number[];
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
  }

  /** A challenge with its id, from `player` to the player `to`; it can be accepted for `expires_ms`. Without a `side` the marks are random. */
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

  /** An undecided opening: what the player whose turn it is has to do. Attributes: rule: `pie` or `swap2`. step: `place` a mark, or `choose` one of the `options`. places: The mark to place next, None at `choose`. left: The number of marks to place before the next choice. options: The choices: marks, and perhaps `more`; empty at `place`. */
  interface OpeningState {
    rule: string;
    step: string;
    places: string | null;
    left: number;
    options: string[];
  }

  /** One row of a history: a finished game. Attributes: at: When the game ended, in ms since the epoch. moves: The number of moves. event: The code of the event, if any; `pairing` is then the id of its pairing. */
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

  /** The player of a mark in a finished game, with the name at that time. */
  interface PastPlayer {
    player: string;
    name: string;
  }

  /** Asks for the server's time. */
  interface Ping {
    type: "ping";
    id?: string;
  }

  /** A finished game with all of its moves; the rest as in `PastGame`. Attributes: board: The final board. moves: The cells played, in order. passed: The players who were skipped: the number of moves on the board at that time, and the mark. chosen: What was chosen in the opening. */
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
  }

  /** A player's ladders and rated games. Attributes: games: At most 20, newest first. with_: The results against the asking player. */
  interface PlayerProfile {
    player: string;
    name: string;
    ladders: LadderStanding[];
    games: PastGame[];
    with?: Encounters;
  }

  /** Asks for a player's ladders and rated games, by id or claimed name. */
  interface Profile {
    type: "profile";
    player: string;
    id?: string;
  }

  /** A game of a room was rated in the ladder of `rules`; `players` has the changes by player id. */
  interface Rated {
    type: "rated";
    room: string;
    game: number;
    rules: string;
    players: { [key: string]: RatingChange };
  }

  /** A player's rating before and after a game, and the expected score from 0 to 1. The new rating may be `provisional`; see `LadderStanding`. */
  interface RatingChange {
    before: number;
    after: number;
    expected: number;
    provisional?: boolean;
  }

  /** Asks for a ladder: its best `top` players, or the rows around the player `around`. */
  interface Ratings {
    type: "ratings";
    rules: string | RulesFields;
    around?: string;
    top?: number;
    id?: string;
  }

  /** Asks for one finished game. */
  interface Record {
    type: "record";
    game_id: string;
    id?: string;
  }

  /** Asks for another game in the room, or agrees; idempotent with the `game` that is over. */
  interface Rematch {
    type: "rematch";
    room: string;
    game?: number;
    id?: string;
    player?: string;
  }

  /** The player's seat is now attached to a newer connection. */
  interface Replaced {
    type: "replaced";
    room: string;
  }

  /** Gives the game up. */
  interface Resign {
    type: "resign";
    room: string;
    id?: string;
    player?: string;
  }

  /** How a game ended. Attributes: winner: A mark, None without a winner. line: Every cell of the deciding lines, else empty. */
  interface Result {
    winner: string | null;
    reason: string;
    line?: number[];
  }

  /** Asks for the analysis of a finished game's position, the last one or the one after `ply` moves. The game is one of the player's own, or a shared one by its `replay`. */
  interface Review {
    type: "review";
    game_id?: string;
    replay?: string;
    ply?: number;
    id?: string;
  }

  /** Logs a device out, by its id in `devices`. */
  interface Revoke {
    type: "revoke";
    device: string;
    id?: string;
  }

  /** The whole state of a room, the same for all its players and watchers. See `docs/protocol.md`. Attributes: analysis: `open`, only if the room was opened with it. chat: `players`, only if the room was opened with it. happened: Events of the change to this `seq` that the state does not show. opening: Only while an opening is undecided. chosen: The choices made in the opening, in order. event: Only in a room of an event, with its `pairing`. game_id: Only once the game is over and kept. rated: True if the room's games are rated, else left out. */
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
    analysis?: string;
    chat?: string;
    happened?: Happening[];
    opening?: OpeningState;
    chosen?: string[];
    event?: string;
    pairing?: string;
    game_id?: string;
    rated?: boolean;
  }

  /** One row of the list of public rooms. Attributes: seats: None for a free seat. age_ms: Time since the room was opened. host_rating: Rating of the player who waits in a rated room, rounded. host_provisional: True while that rating is not certain enough to be shown elsewhere. */
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

  /** Asks for the public rooms. */
  interface Rooms {
    type: "rooms";
    id?: string;
  }

  /** Rules in full; missing fields are as in `classic`. The engine decides whether they can be played. */
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

  /** Rules in full; `blocked` is ascending. Attributes: preset: Their name, None if they have none. exact: Left out if false. opening: Left out if None. */
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

  /** The holder of a seat. Attributes: bot: The level of a server's bot, `GUEST` for another program, else None. hold_ms: How long the seat of a disconnected player is still held. left: Whether the player has left for good. out: Whether the player is skipped in the current game. */
  interface SeatState {
    player: string;
    name: string;
    online: boolean;
    bot: string | null;
    hold_ms?: number;
    left?: boolean;
    out?: boolean;
  }

  /** Shares one finished game by link, or stops sharing it. */
  interface Share {
    type: "share";
    game_id: string;
    on?: boolean;
    id?: string;
  }

  /** Asks for the current state again. */
  interface Sync {
    type: "sync";
    room: string;
    id?: string;
  }

  /** Asks to take the sender's last move back, or answers; idempotent with `game` and `ply`. */
  interface Undo {
    type: "undo";
    room: string;
    action: "accept" | "decline" | "offer";
    game?: number;
    ply?: number;
    id?: string;
    player?: string;
  }

  /** Watches; `seq` as for `join`. */
  interface Watch {
    type: "watch";
    room: string;
    seq?: number;
    id?: string;
  }

  /** The answer to hello. What the operator has switched off shows in its fields. Attributes: token: The secret that makes a later connection the same player again. hold_ms: How long the seat of a disconnected player is held. held_ms: How long the player's own seats are still held, by room code; only rooms that they are away from. sharing: Whether finished games can be shared. ladders: The rules that have a ladder, by name; empty if no games are rated. challenges: The open challenges to and from the player; left out if the server has no challenges. servers: The URLs of the live servers of the cluster, this one first; left out by a single server. cluster: The cluster's id. Players and tokens are the same at all of its servers. calls: The player's calls to boards of tournaments. claimed: True if the player has claimed this `name`, false if another player has, else left out. device_news: What the player has to know about newer devices: `device_added` or `device_refused`. title: The server's name, chosen by its operator. greeting: The operator's words of welcome, some lines. chat: `off` or `sentences` where chat is restricted. names: `given` where the server names the players itself. opens_events: False where the operator has not allowed this player to open tournaments, else left out. */
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
  }

  type Request = Hello | Create | Match | Join | Watch | Leave | Move | Choose | Resign | Draw | Undo | Claim | Rematch | Chat | Rooms | Lobby | Sync | Ping | History | Record | Share | Analyse | Review | EventOpen | EventJoin | EventLeave | EventReady | EventRun | EventWatch | Events | ClaimName | LinkDevice | Devices | Revoke | Forget | Export | Challenge | Answer | Block | Ratings | Profile;

  type Push = Welcome | Ok | Error | RoomState | ChatLine | LobbyChange | LiveBoards | Replaced | Moved | Closed | Notice | Announcement | EventState | EventRows | Call | Challenged | ChallengeOver | Rated;
}

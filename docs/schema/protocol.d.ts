// The messages of docs/protocol.md, made by `python -m tools.protocol_types`.
declare namespace Protocol {
  /** Asks what a position of the room's game is worth, the current one or the one after `ply` moves. */
  interface Analyse {
    type: "analyse";
    room: string;
    ply?: number;
    id?: string;
  }

  /** What a search found after `ply` moves: the `value` for `turn`, that of each legal cell, and the `best` cells. Where nothing is known and more than half of the cells look equally good, none of them is best. `solved` tells whether every value is exact. Of a finished game: no cells, and `turn` is None. Where a choice of an opening is due, `options` and `best_options` stand in their place; where one was made, they stand in `before`. */
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

  /** Something that the operator says to everybody; `at` is in ms since the epoch. With a `code` it is the server that says it, to this player; `text` says the same in words. */
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

  /** Blocks a player, whose challenges and chat are hidden, or ends the block; without a player it lists blocks. */
  interface Block {
    type: "block";
    player?: string;
    on?: boolean;
    id?: string;
  }

  /** That a player is to come to a room, to play `mark` against somebody; there are `due_ms` to come. */
  interface Call {
    type: "call";
    event: string;
    pairing: string;
    room: string;
    mark: string;
    against: string;
    due_ms: number;
  }

  /** What lets one of a roster in: under this `name`, once. */
  interface Card {
    name: string;
    ticket: string;
  }

  /** What a position or a move is worth to the player to move. `plies` counts all moves until the end for `win` and `loss`; `estimate` runs from -1 (lost) to 1 (won), and is exact but for `unknown`. */
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

  /** Says something to players and watchers, or one of the sentences that there are, by its id. Longer texts than 200 characters are refused with `too_long`. */
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

  /** Takes a side in an opening, by its mark, or `more`, when `ply` moves lie on the board. */
  interface Choose {
    type: "choose";
    room: string;
    take: string;
    ply: number;
    id?: string;
    player?: string;
  }

  /** Ends a game whose opponent has been gone past the hold. */
  interface Claim {
    type: "claim";
    room: string;
    as: "draw" | "win";
    id?: string;
    player?: string;
  }

  /** Claims a name for the player, who has it from then on; the answer has codes that bring it back. */
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

  /** What is left on each seat's clock at sending, and the mark whose clock runs. `start_ms` is how long the player to move still has for a first move, left out where no first move is due. */
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

  /** A device of the player: with which program it said hello, the day on which it was last here (UTC). `current` is the one that asks. */
  interface Device {
    id: string;
    seen: string;
    current?: boolean;
    client?: string;
  }

  /** Asks for the devices on which one is this player. */
  interface Devices {
    type: "devices";
    id?: string;
  }

  /** Offers a draw, or answers an offer; with `game` and `ply`, for which it is meant, it may be sent twice. */
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

  /** How an offer was answered with no: `by` is the mark that did, the offering one where `how` is `withdrawn`. */
  interface EndedOffer {
    by: string;
    how: string;
  }

  /** A request was refused and changed nothing; `code` is one of `ErrorCode`, or newer than this client. `url` is there with `moved`: the server that has the room. `data` is what the message was made from. */
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

  /** How far the game of a pairing is that is open: moves played, the mark whose turn it is, and its clock. */
  interface EventGame {
    ply: number;
    turn: string | null;
    clock?: ClockState;
  }

  /** What an event is: its terms, the ids of its `organisers`, how many are entered, and how many of them are here. `rounds` is how many there are in all, 0 while that is not known. `expected` is how many names of the roster nobody has entered by yet who still may. */
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

  /** Leaves an event; while it runs that forfeits what is open. */
  interface EventLeave {
    type: "event_leave";
    event: string;
    id?: string;
  }

  /** One match of a knock-out: the ids and names of both, None where that is not decided yet; one alone is free. `points` are those of its games, as `players`; `goes_on` is who has won it, None as long as that is not decided. */
  interface EventMatch {
    players: (string | null)[];
    names: (string | null)[];
    points?: number[];
    goes_on?: string | null;
  }

  /** Opens an event; the sender is its organiser. Attributes: rounds: The number of rounds, for a Swiss only. entry: `open` to all, with a `code` (the `ticket` of the answer), or for the names of the `roster`, each of which gets a card. start: `full` starts the event when `size` players have entered, `hand` when the organiser says so. advance: Whether the next round starts `break_ms` after the last result, or by `hand`. ready_ms: The time within which a first move is due. late_until: The last round before which players may still enter. */
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

  /** Who plays whom, by mark; who has nobody is there alone. `result` is a mark, `draw`, or `none` for 0-0. `room` is there while it is open or its game can still be seen; `game_id` is that of the finished game. */
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

  /** Pauses oneself, or comes back: who is away is not paired. */
  interface EventReady {
    type: "event_ready";
    event: string;
    on: boolean;
    id?: string;
  }

  /** One row of the table; `tie` has each tie-break as its name, its value, and the sum that made it. */
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

  /** What changed in an event since the last of these or its state: rows of the table, and pairings. `away` and `games` are all that there are now, left out where there is none; `bracket` is there where it changed. */
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
    away?: { [key: string]: number };
    games?: { [key: string]: EventGame };
    bracket?: EventMatch[][];
  }

  /** What the organiser does with an event whose newest state is `seq`; `cards` only asks for those of a roster. */
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

  /** An event as far as it fits: the top of the table and the own row, the pairings of this round, the own first. `due_ms` is when the next round begins by itself, or what is waited for is over, None where nothing is due. Left out where there is none: `expected`, the names of the roster nobody has come by; `away`, for how long (ms) players have had no connection; `games` by their pairings; `bracket`, the last rounds of a knock-out, with those to come. */
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
    expected?: string[];
    away?: { [key: string]: number };
    games?: { [key: string]: EventGame };
    bracket?: EventMatch[][];
  }

  /** One row of the list of events; `players` is how many are entered. */
  interface EventSummary {
    event: string;
    title: string;
    kind: string;
    status: string;
    round: number;
    players: number;
  }

  /** Subscribes to an event's states, or ends that. */
  interface EventWatch {
    type: "event_watch";
    event: string;
    on: boolean;
    id?: string;
  }

  /** Asks for the events that are open or on. */
  interface Events {
    type: "events";
    id?: string;
  }

  /** Asks for all that is kept of the player: the tables and the newest games, or the games before one of them. */
  interface Export {
    type: "export";
    before?: string;
    id?: string;
  }

  /** Asks to be forgotten: name, devices and codes go for good, and games stay under another name. */
  interface Forget {
    type: "forget";
    id?: string;
  }

  /** Something that the change to a state brought, beside what shows in it. The `type` is `out`: who plays `mark` plays no more in this game, and `why`. Or it is `chose`: who sat at `mark` took a side in the opening, or chose `more`; where that is another mark, both have changed places. */
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

  /** Asks for the player's finished games, newest first: at most `limit`, those older than the game `before`. */
  interface History {
    type: "history";
    limit?: number;
    before?: string;
    id?: string;
  }

  /** Takes a free seat, and one for each of the `guests`, or attaches this connection to the seats that they hold. `seq` is that of the newest state that the sender has seen of the room. At `unreachable`, where its server is, nobody answers the sender. */
  interface Join {
    type: "join";
    room: string;
    seq?: number;
    unreachable?: string;
    guests?: string[];
    id?: string;
  }

  /** Why a ladder rates no more games. Attributes: figure: How many of the last `of` games were decided, or the advantage in rating points after `of` games. */
  interface LadderClosing {
    reason: string;
    figure: number;
    of: number;
  }

  /** One row of a leaderboard; `trend` is the change of the rating over the last ten games. */
  interface LadderRow {
    place: number;
    player: string;
    name: string;
    rating: number;
    deviation: number;
    games: number;
    trend: number;
  }

  /** A player's record in one ladder. Attributes: rules: The ladder's key, the name of the rules. to_rank: Instead of `rating` and `deviation` until the rating is certain enough to be shown: the number of games, and about how many are needed. place: Only if the player is on the leaderboard. */
  interface LadderStanding {
    rules: string;
    wins: number;
    draws: number;
    losses: number;
    rating?: number;
    deviation?: number;
    to_rank?: [number, number];
    place?: number;
  }

  /** A part of a ladder. Attributes: rules: The ladder's key, the name of the rules. games: The number of rated games. advantage: The value of the first move in rating points. decided: The share of the last 200 games that were not drawn. closed: Why the ladder rates no more games, if it does not. */
  interface LadderState {
    rules: string;
    rows: LadderRow[];
    games: number;
    advantage: number;
    decided: number;
    closed?: LadderClosing;
  }

  /** Stops watching, frees the seat of a waiting room, or resigns and goes; the sender's guests go along. */
  interface Leave {
    type: "leave";
    room: string;
    id?: string;
    player?: string;
  }

  /** Asks for a code with which another device says hello as this player. */
  interface LinkDevice {
    type: "link";
    id?: string;
  }

  /** The board of a public game; the fields are those of a state. `names` are the players' by mark. `result` is there once the game is over, `clock` where the room has clocks: as they were when this row changed. */
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

  /** The boards of some public games that are on, all that one is shown from now on. `demo` is a game of computers for who asked for it, where there is none of people. It is no room: its `room` is empty. */
  interface LiveBoards {
    type: "boards";
    boards: LiveBoard[];
    demo?: LiveBoard;
  }

  /** Subscribes to changes of the list of public rooms, and to so many boards of games that are on, or ends that. With `demo` a game of computers is shown where there is no board. */
  interface Lobby {
    type: "lobby";
    on: boolean;
    boards?: number;
    demo?: boolean;
    id?: string;
  }

  /** What changed in the list of public rooms since the last of these. */
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

  /** Another server has the room from now on: whoever plays or watches there goes on at `url`. */
  interface Moved {
    type: "moved";
    room: string;
    url: string;
  }

  /** The server is about to go; come back after `retry_ms`, unless the code is `stopping`: then for good. With `in_ms` it goes when the games that are on are over, at the latest after so long; null is no such limit. */
  interface Notice {
    type: "notice";
    code: string;
    retry_ms: number;
    in_ms?: number | null;
  }

  /** The marks whose offer is open: one for a draw, one for an undo, all who asked for a rematch. `ended` says by their kind how offers in this position came to nothing, left out where none did. */
  interface Offers {
    draw?: string | null;
    undo?: string | null;
    rematch?: string[];
    ended?: { [key: string]: EndedOffer };
  }

  /** A request was carried out; which of the fields are there depends on the request. `seats` are the marks of a player who has guests and of these guests. */
  interface Ok {
    type: "ok";
    id: string;
    room?: string;
    seat?: string | null;
    seats?: string[];
    moves?: number[];
    rooms?: RoomSummary[];
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

  /** An opening that is not decided, and what the seat whose turn it is has to do. At the step `place` it places `left` more marks, `places` the next; at `choose` it takes one of `options`: a mark, or `more`. */
  interface OpeningState {
    rule: string;
    step: string;
    places: string | null;
    left: number;
    options: string[];
  }

  /** One row of a history: a finished game. Attributes: at: When the game ended, in ms since the epoch. moves: The number of moves. event: The code of the event, if it was a game of one; `pairing` is then the id of its pairing. */
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

  /** Who played a mark of a finished game, under the name of that time. */
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

  /** A player's ladders and newest rated games, at most 20, newest first; `with_` are those of them with who asks. */
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

  /** A player's rating before and after a game, and the expected score from 0 to 1. With `to_rank` the rating is not certain enough to be shown; see `LadderStanding`. */
  interface RatingChange {
    before: number;
    after: number;
    expected: number;
    to_rank?: [number, number];
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

  /** Asks for another game in the room, or agrees to it; with `game`, which is over, it may be sent twice. */
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

  /** How a game ended; `winner` is a mark or None, `line` every cell of the deciding line(s), else empty. */
  interface Result {
    winner: string | null;
    reason: string;
    line?: number[];
  }

  /** Asks what a position of a finished game is worth, its last one or the one after `ply` moves. The game is one that the player played in, or one that was shared, by its `replay`. */
  interface Review {
    type: "review";
    game_id?: string;
    replay?: string;
    ply?: number;
    id?: string;
  }

  /** Lets a device be this player no more, by the id that `devices` gave. */
  interface Revoke {
    type: "revoke";
    device: string;
    id?: string;
  }

  /** The whole state of a room, the same for all its players and watchers. See `docs/protocol.md`. `analysis` and `chat` are there where the room was opened with another than the usual choice, `happened` where the change to this very `seq` brought more than shows in it. `opening` is there while one is to be decided, `chosen` once something was chosen in it. `event` and `pairing` are there in a room of an event, `game_id` once the game is over and kept. `rated` is there, and true, where the room's games are rated. */
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

  /** Rules spelled out; what is missing is as in `classic`. The engine decides whether they can be played. */
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

  /** Rules in full; `preset` is their name, or None where they have none. `blocked` is ascending. `exact` and `opening` are left out where they are false and None. */
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

  /** Who holds a seat; `bot` is the level of a bot, or `GUEST`. `hold_ms` is how long it is kept for a player who dropped; `left` is one who went for good, `out` one who is passed over in the game on the table. */
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

  /** Asks to take back one's last move, or answers such a request; `game` and `ply` as for `draw`. */
  interface Undo {
    type: "undo";
    room: string;
    action: "accept" | "decline" | "offer";
    game?: number;
    ply?: number;
    id?: string;
    player?: string;
  }

  /** Spectates; `seq` as for `join`. */
  interface Watch {
    type: "watch";
    room: string;
    seq?: number;
    id?: string;
  }

  /** The answer to hello. What the operator has switched off shows in its fields. Attributes: token: The secret that makes a later connection the same player again. hold_ms: How long the seat of a disconnected player is held. held_ms: How long the player's own seats are still held, by room code; only rooms that they are away from. sharing: Whether finished games can be shared. ladders: The rules that have a ladder, by name; empty if no games are rated. challenges: The open challenges to and from the player; left out if the server has no challenges. servers: The URLs of the live servers of the cluster, this one first; left out by a single server. cluster: The cluster's id. Players and tokens are the same at all of its servers. calls: The player's calls to boards of tournaments. claimed: Whether the player has claimed this `name`; false if somebody else has, left out if nobody has. title: The server's name, chosen by its operator. greeting: The operator's words of welcome, some lines. chat: `off` or `sentences` where chat is restricted. names: `given` where the server names the players itself. */
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
    title?: string;
    greeting?: string;
    chat?: string;
    names?: string;
    challenges?: OpenChallenge[];
  }

  type Request = Hello | Create | Match | Join | Watch | Leave | Move | Choose | Resign | Draw | Undo | Claim | Rematch | Chat | Rooms | Lobby | Sync | Ping | History | Record | Share | Analyse | Review | EventOpen | EventJoin | EventLeave | EventReady | EventRun | EventWatch | Events | ClaimName | LinkDevice | Devices | Revoke | Forget | Export | Challenge | Answer | Block | Ratings | Profile;

  type Push = Welcome | Ok | Error | RoomState | ChatLine | LobbyChange | LiveBoards | Replaced | Moved | Closed | Notice | Announcement | EventState | EventRows | Call | Challenged | ChallengeOver | Rated;
}

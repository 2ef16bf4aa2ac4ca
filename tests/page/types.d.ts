// What the page's modules call the things that they share: names for `tsc` alone, nothing of it is served.

type State = Protocol.RoomState;
type Rules = Protocol.RulesState;
type Seats = State["seats"];
type Analysis = Protocol.AnalysisState;
type Value = Protocol.CellValue;
type Terms = Protocol.ClockTerms | null | undefined;
type News = Exclude<Protocol.Push, Protocol.Ok | Protocol.Welcome>;
type WithoutId<R> = R extends { id?: string } ? Omit<R, "id"> : never;
type Ask = WithoutId<Protocol.Request>;
type Offered = "draw" | "undo";
type Action = "offer" | "accept" | "decline";

type App = import("../../server/tictactoe_server/web/app.js").App;
type Connection = import("../../server/tictactoe_server/web/connection.js").Connection;
type Room = import("../../server/tictactoe_server/web/room.js").Room;
type MiniBoard = import("../../server/tictactoe_server/web/mini.js").MiniBoard;

/** Says something of a state to a reader, by the public id. */
type Say = (state: State, viewer: string) => string;
type SayState = (state: State) => string;
type SayRules = (rules: Rules) => string;
type OfCell = (cell: number, rules: { columns: number }) => string;

type Child = Node | string | null | false | undefined;
type Attributes = Record<string, string | number | boolean | null | undefined | ((event: any) => void)>;
/** The tag of `p` and of `p.note`. */
type TagOf<T extends string> = T extends `${infer Name}.${string}` ? Name : T;
type ElementOf<T extends string> = TagOf<T> extends keyof HTMLElementTagNameMap ? HTMLElementTagNameMap[TagOf<T>] : never;
type MakeElement = <T extends string>(tag: T, attributes?: Attributes, ...children: (Child | Child[])[]) => ElementOf<T>;
type MakeShape = <T extends keyof SVGElementTagNameMap>(
  tag: T, attributes?: Attributes, ...children: (Child | Child[])[]) => SVGElementTagNameMap[T];

/**
 * What is kept between visits: the name and secret of the player, and what one prefers. `tokens` are those of all clusters
 * that were met here, by their ids, the newest last; that of a server of no cluster is under "".
 */
interface Kept { name: string; token: string; tokens: Record<string, string>; sound: boolean; game: string; clock: string }

/** A page of the site: it lives from its making to `close`. */
interface Page {
  element: HTMLElement;
  title: string;
  onPhase?(): void;
  onNews?(news: News): void;
  onKey?(event: KeyboardEvent): void;
  close?(): void;
}

interface ConnectionEars {
  onPhase(): void;
  onWelcome(): void;
  onNews(news: News): void;
  onIdentity(connection: Connection): void;
}

/** What happens in a room; `old` is null for the first state. */
interface RoomEars {
  onUpdate(old: State | null, before: readonly number[], afterLoss: boolean): void;
  onChat(line: Protocol.ChatLine): void;
  onEnd(): void;
  /** Another server has the room now. */
  onMoved(): void;
  onRefusal(message: string, cell: number | null): void;
}

/** What a page of a game needs of its room: a live one, or one made of a record. */
interface Table {
  code: string;
  state: State | null;
  moves: readonly number[];
  viewer: string;
  seat: string | null;
  plays: boolean;
  receivedAt: number;
  pending: { cell: number; ply: number } | null;
  ended: "" | "left" | "closed" | "moved" | "replaced";
}

/** A cell's worth as it is shown. */
interface Worth { sign: string; kind: string; best: boolean }

/** What a board shows: `turn` is the mark that a move would set, `pending` the cell of a move that is on its way. */
interface BoardView {
  board: string;
  last: number | null;
  line: readonly number[];
  turn: string | null;
  isMine: boolean;
  pending: number | null;
  values: Map<number, Worth> | null;
}

/** One thing that can be done: a command, a button and perhaps a key at once; the main one is a button that stands out. */
type Deed = [word: string, label: string, does: () => unknown, key?: string, isMain?: boolean];
/** Something that waits for an answer, with its answers. */
type Question = [text: string, ...answers: [label: string, does: () => unknown][]];

/** A board that one can play on; `isTyping` is whether a typed move waits for Enter, which is not for the cursor's cell. */
interface Board {
  element: HTMLElement;
  rules: Rules;
  isTyping: boolean;
  draw(view: BoardView): void;
  play(cell: number): void;
  choose(cell: number | null): void;
  focus(cell?: number): void;
  refuse(cell: number, message: string): void;
  hasChosen(): boolean;
}
type MakeBoard = (rules: Rules, name: string,
  ears: { onPlay(cell: number): void; onChoose(cell: number | null): void }) => Board;

/** Where a game comes from: a room, or a record, one's own by its id in the history. */
type Source = { code: string; onlyWatches: boolean } | { load: () => Promise<string>; past?: string };
/** Makes a page. */
type MakePage = (app: App) => Page;

// What functions take and return.

// dom.js
/** What a form does instead of going elsewhere. */
type Submitting = (does: () => unknown) => (event: Event) => void;

// game.js
type TellCell = (cell: number, rules: Rules) => Promise<void>;

// home.js
type MakeRow = (names: string, terms: string[], what: string, verb: string, href: string) => HTMLElement;

// happened.js, telling.js and choices.js
/** The cells of a game in order, null where they are not known. */
type Cells = readonly number[] | null | undefined;
type Seat = Protocol.SeatState;
type Offers = Protocol.Offers;
/** An event: its kind, the states between which it happened, the mark that it is about, and what else belongs to it. */
type Happened = { type: string; old: State; state: State; mark?: string; [more: string]: any };
type TellOfSeat = (change: Happened, viewer: string, seesBoard: boolean, afterLoss: boolean) => string;
type SayOf = (state: State, mark: string, id: string, viewer: string, places?: Record<string, string | number>) => string;
type DescribeOffer = (state: State, what: Offered, moves: readonly number[], viewer: string) => string;
/** Whether going calls the viewer's game off, as not everybody has moved, or else loses it; "" for neither. */
type CostOfGoing = (state: State, viewer: string) => "" | "abort" | "lose";
/** The opponents that are away past their hold, so many ms after the state came. */
type GoneOpponents = (state: State, viewer: string, passed: number) => string[];

// panel.js
type DescribeSeat = (state: State, mark: string, seat: Protocol.SeatState, passed: number) => string;

// record.js
/** Raises an error with a sentence for what is no record. */
type ParseRecord = (text: string) => {state: State, moves: number[], date: string};
type MakeState = (rules: Rules, tags: Record<string, string>, cells: string[], moves: number[], ending: string) => State;

// room.js
/** Whether these can be the moves of a state: so many, on these cells, the last one last. */
type Fits = (moves: readonly number[], state: State) => boolean;

// rules.js
/** Where a mark comes to lie that is meant for a cell, -1 for nowhere. */
type LandingCell = (rules: Rules, board: string, cell: number) => number;
/** The cell so many rows and columns away, -1 off the board. */
type Neighbour = (rules: Rules, cell: number, down: number, right: number) => number;
type CellAt = (rules: Rules, row: number, column: number) => number;
/** The straight runs of `rules.line` cells and more that some cells make. */
type SplitLines = (rules: Rules, cells: readonly number[]) => number[][];
/** The board after some of the moves that lie on another one. */
type BoardAfter = (rules: Rules, board: string, moves: readonly number[]) => string;
type NameCells = (cells: readonly number[], rules: Rules) => string[];

// words.js
/** The mark that a viewer plays, null for a watcher and for one who left. */
type SeatOf = (state: {seats: Seats}, viewer: string) => string | null;
type NameOf = (state: {seats: Seats}, mark: string | null) => string;
type DescribeManners = (room: {analysis?: string, chat?: string}) => string[];
/** A clock that is typed as `3+2`, `10/move` or nothing; undefined for what is none. */
type ParseClock = (text: string) => Protocol.ClockFields | null | undefined;
type DescribePush = (push: Protocol.Notice | Protocol.Announcement) => string;

// worth.js
type Lean = (value: Value, signs: [string, string, string]) => string;
/** How a move compares that was played: `X played C3: loses in 2; best C1: a draw.` */
type ComparePlayed = (cell: number, analysis: Analysis, rules: Rules) => string;

// talk.js and timeline.js
/** `begin` begins a line, `look` leads to the talk, `note` shows what happened between the lines. */
type MakeTalk = (ears: { onSay(text: string): Promise<boolean>; onCommand(text: string): void; onDone(): void }) => {
  element: HTMLElement; hear(line: Protocol.ChatLine): void; note(text: string): void; begin(text: string): void; look(): void };
/** `here` is how many moves are looked at, `reset` returns to the newest moment without a word. */
type MakeTimeline = (onLook: () => void) => {
  list: HTMLElement; steps: HTMLElement; draw: DrawMoves;
  here(): number; isBack(): boolean; step(by: number): void; look(ply?: number): void; reset(): void };
type DrawMoves = (state: State, moves: readonly number[]) => void;

// room.js
/** What lets one into a room. */
type Entry = WithoutId<Protocol.Create | Protocol.Match | Protocol.Join | Protocol.Watch>;

type Move = (kind: string, from: number | null, to: number | null) => void;

type ParseCell = (text: string, rules: Rules) => number;
type MakeSelect = (options: (string | [string, string])[], attributes?: Attributes) => HTMLSelectElement;
/** What an app needs of the page around it. */
interface House { navigate(path: string): void; onPhase(): void; onNews(news: News): void }

// game.js
type MakeGame = (app: App, source: Source) => Page;
type DrawBoard = (table: Table, state: State) => void;
type DrawTurn = (table: Table, state: State) => void;
type DescribeMove = (state: State, ply: number) => string;
type MakeDoor = (state: State, mark: string) => HTMLElement;
type Answer = (label: string, action: Action) => [string, () => unknown];
type Claim = (as: "win" | "draw") => () => unknown;
type PressAtBoard = (key: string, rules: Rules) => boolean;

// mini.js
type Path = (name: string, d?: string) => SVGPathElement;
type At = (cell: number, shape: string) => string;
type All = (mark: string, shape: string) => string;

// panel.js
type MakePanel = () => {element: HTMLElement, draw(table: Table): void, tick(): void};

// record.js
type ReadRules = (tags: Record<string, string>) => Rules;
type NumberOf = (tag: string, usual: number) => number;

// words.js
type NamePlayers = (state: {seats: {[mark: string]: {name: string} | null}}) => string;
type FormatDuration = (milliseconds: number) => string;
type DescribeCell = (cell: number, rules: Rules) => string;
/** The one who lost, of those who played to the end. */
type LoserOf = (state: State) => string | null;

// worth.js
type DescribeValue = (value: Value, solved: boolean) => string;
/** The values of a position as they stand in its cells. */
type WorthOf = (analysis: Analysis) => Map<number, Worth>;
type DescribePosition = (analysis: Analysis, rules: Rules) => string;

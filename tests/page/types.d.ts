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

/** Says something of a state to a reader, by the public id. */
type Say = (state: State, viewer: string) => string;
type SayState = (state: State) => string;
type SayRules = (rules: Rules) => string;

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

/** Makes a page. */
type MakePage = (app: App) => Page;

// What functions take and return.

// dom.js
/** What a form does instead of going elsewhere. */
type Submitting = (does: () => unknown) => (event: Event) => void;

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

// words.js
/** The mark that a viewer plays, null for a watcher and for one who left. */
type SeatOf = (state: {seats: Seats}, viewer: string) => string | null;
type NameOf = (state: {seats: Seats}, mark: string | null) => string;
type DescribeManners = (room: {analysis?: string, chat?: string}) => string[];
/** A clock that is typed as `3+2`, `10/move` or nothing; undefined for what is none. */
type ParseClock = (text: string) => Protocol.ClockFields | null | undefined;
type DescribePush = (push: Protocol.Notice | Protocol.Announcement) => string;

// room.js
/** What lets one into a room. */
type Entry = WithoutId<Protocol.Create | Protocol.Match | Protocol.Join | Protocol.Watch>;

type MakeSelect = (options: (string | [string, string])[], attributes?: Attributes) => HTMLSelectElement;
/** What an app needs of the page around it. */
interface House { navigate(path: string): void; onPhase(): void; onNews(news: News): void }

// mini.js
type Path = (name: string, d?: string) => SVGPathElement;
type At = (cell: number, shape: string) => string;
type All = (mark: string, shape: string) => string;

// words.js
type NamePlayers = (state: {seats: {[mark: string]: {name: string} | null}}) => string;
type FormatDuration = (milliseconds: number) => string;
type DescribeCell = (cell: number, rules: Rules) => string;
/** The one who lost, of those who played to the end. */
type LoserOf = (state: State) => string | null;

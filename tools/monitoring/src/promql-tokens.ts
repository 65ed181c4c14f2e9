/** A piece of a query: a name is a metric's, a function's, a label's or a keyword; a text is what a string stands for. */
export type Token = { readonly kind: 'name' | 'text' | 'number' | 'sign'; readonly text: string };

/** White space, a comment, or a token. Durations count as numbers. */
const PIECE =
  /\s+|#[^\n]*|(?<name>[A-Za-z_][\w:]*)|(?<text>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`[^`]*`)|(?<number>[\d.][\w.]*)|(?<sign>[=!]~|[=!<>]=|[-+*/%^=<>(){}[\],:@])/y;

/**
 * The tokens of a PromQL query, in order. Whether they make sense together is for promtool to say.
 *
 * @throws {SyntaxError} where no token begins
 */
export function tokensOf(query: string): readonly Token[] {
  const tokens: Token[] = [];
  const piece = new RegExp(PIECE);
  while (piece.lastIndex < query.length) {
    const at = piece.lastIndex;
    const groups = piece.exec(query)?.groups;
    if (groups === undefined) throw new SyntaxError(`no PromQL: ${query.slice(at)}`);
    const { name, text, number, sign } = groups;
    if (name !== undefined) tokens.push({ kind: 'name', text: name });
    if (text !== undefined) tokens.push({ kind: 'text', text: unquoted(text) });
    if (number !== undefined) tokens.push({ kind: 'number', text: number });
    if (sign !== undefined) tokens.push({ kind: 'sign', text: sign });
  }
  return tokens;
}

/** Of the escapes, only those that make a sign stand for itself are used here. */
function unquoted(text: string): string {
  const inside = text.slice(1, -1);
  return text.startsWith('`') ? inside : inside.replaceAll(/\\(.)/g, '$1');
}

import { createContext, Script } from 'node:vm';
import type { Directive } from './parse.ts';
import { fullName } from './zones.ts';

/** A rule of the plugin rewrite for names. */
type Rule = { readonly isLast: boolean; readonly type: string; readonly from: string; readonly to: string };

/** The words of `rewrite`, in its line or in its braces. */
const rewriteWords = ({ args, lines }: Directive): readonly string[] =>
  args.length < 2 ? [...args, ...lines.flat()] : args;

function ruleOf(directive: Directive): Rule | undefined {
  const [mode = '', ...words] = rewriteWords(directive);
  const hasMode = ['stop', 'continue'].includes(mode.toLowerCase());
  const [about = '', ...args] = hasMode ? words : [mode, ...words];
  if (about.toLowerCase() !== 'name') return undefined;
  const [type = '', from = '', to] = args;
  const rule = { isLast: mode.toLowerCase() !== 'continue' };
  return to === undefined
    ? { ...rule, type: 'exact', from: type, to: from }
    : { ...rule, type: type.toLowerCase(), from, to };
}

type Rewritten = {
  readonly name: string;
  /** The pattern of a rule that isn't understood here. */
  readonly unreadable: string | undefined;
};

/** What the rules of a block make of a name, as plugin/rewrite/name.go. */
export function rewrite(directives: readonly Directive[], name: string): Rewritten {
  let current = name;
  let foreign: Matcher | undefined;
  for (const directive of directives) {
    const rule = directive.name === 'rewrite' ? ruleOf(directive) : undefined;
    if (rule === undefined) continue;
    const match = ruleNames(directive) === undefined ? (foreign ??= matcher()) : ownMatch;
    const next = applied(rule, current, match);
    if (next === null) return { name: current, unreadable: rule.from };
    if (next === undefined) continue;
    current = next;
    if (rule.isLast) break;
  }
  return { name: current, unreadable: undefined };
}

/** Undefined: the rule isn't about the name. Null: that isn't known. */
function applied({ type, from, to }: Rule, name: string, match: Matcher): string | undefined | null {
  const [start, end] = [fullName(from), fullName(to)];
  if (type === 'exact') return name === start ? end : undefined;
  if (type === 'prefix') return name.startsWith(start) ? end + name.slice(start.length) : undefined;
  if (type === 'suffix') return name.endsWith(start) ? name.slice(0, -start.length) + end : undefined;
  if (type === 'substring') return name.includes(start) ? name.replaceAll(start, end) : undefined;
  if (type !== 'regex') return undefined;
  const groups = match(from, name);
  if (groups === undefined) return null;
  return groups?.reduce<string>((text, group, i) => text.replaceAll(`{${i}}`, () => group ?? ''), end);
}

type Matcher = (pattern: string, name: string) => readonly (string | undefined)[] | null | undefined;

const ownMatch: Matcher = (pattern, name) => new RegExp(pattern).exec(name);

/** For all rules of a block: a pattern of others may take for ever. */
const BUDGET_MS = 2_000;

/** What Go's syntax has, and JavaScript hasn't or means otherwise. */
const OF_GO = /\(\?(?!:)|\[\[:|\\[pPzAQECaUx]/;

/** Matches names with patterns of Go. Undefined: it isn't known, as the pattern is special, or takes too long. */
function matcher(): Matcher {
  const sandbox = createContext({ pattern: '', name: '' });
  const script = new Script('new RegExp(pattern).exec(name)');
  let leftMs = BUDGET_MS;
  return (pattern, name) => {
    if (OF_GO.test(pattern) || leftMs < 1) return undefined;
    const since = performance.now();
    try {
      Object.assign(sandbox, { pattern, name });
      const found = script.runInContext(sandbox, { timeout: Math.ceil(leftMs) }) as readonly string[] | null;
      return found === null ? null : [...found];
    } catch {
      return undefined;
    } finally {
      leftMs -= performance.now() - since;
    }
  };
}

/** Which cluster's names a rule of ours is about, in any form that we wrote or that our pages had; undefined: it isn't ours. */
export function ruleNames(directive: Directive): string | undefined {
  if (directive.name !== 'rewrite') return undefined;
  const [, about, type, from = '', to = ''] = rewriteWords(directive);
  if (about !== 'name' || type !== 'regex') return undefined;
  const [, start = '', cluster, imports] = FROM.exec(from) ?? [];
  const name = cluster ?? (imports && IMPORTS_DOMAIN);
  if (name === undefined || !STARTS.includes(start.replaceAll(/\d{1,3}/g, 'n'))) return undefined;
  return to === `{2}.{3}.svc.{1}${domainFor(name)}` || TO.test(to) ? name : undefined;
}

/** Of ServiceImports. */
export const IMPORTS_DOMAIN = 'clusterset.local';

/** What names of a cluster end with; of ServiceImports, too. */
export const domainFor = (name: string): string => (name === IMPORTS_DOMAIN ? name : `cluster.${name}`);

const FROM = /^(.*)(?:cluster\\\.([a-z0-9-]+)|(clusterset\\\.local))\\\.\$$/;
const STARTS = [
  String.raw`^((?:[^.]+\.)*)([^.]+)\.([^.]+)\.svc\.`,
  String.raw`^(?:.{n,}\.svc\..*|.{n,})`,
  String.raw`^([^.]+)\.([^.]+)\.svc\.((?:[^.]+\.)*)`,
];
const TO = /^(?:\{[13]\}[a-z0-9-]+-\{[23]\}-73736d-\{[12]\}|too-long)\.[a-z0-9-]+\.svc\.[a-z0-9.-]+$/;

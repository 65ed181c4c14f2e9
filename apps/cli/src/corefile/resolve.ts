import { quotedWords } from '@kube-semaphore/text';
import { type Corefile, type Directive, hasVariable, type ServerBlock } from './parse.ts';
import { rewrite } from './rewrite.ts';
import { blockFor, dnsPort, fullName, isWithin, optionsOf, pluginZones } from './zones.ts';

/** What becomes of a query. */
export type Route = {
  /** Undefined: no server block gets it. */
  readonly block: ServerBlock | undefined;
  /** What the plugins of the block are asked, after its rules. */
  readonly name: string;
  /** The plugin that answers, of `template`, `kubernetes` and `forward`. */
  readonly by: Directive | undefined;
  /** Its server block: another one, if the first one asks CoreDNS itself. */
  readonly answering: ServerBlock | undefined;
  /** What else may decide that can't be seen here, as the end of a sentence. */
  readonly unless: string | undefined;
};

/** @param name with the dot at its end */
export function routeOf(corefile: Corefile, name: string, port = dnsPort(corefile), hops = 0): Route {
  const block = blockFor(corefile, name, port);
  const unseen = unseenIn(corefile, block);
  if (block === undefined) return { block, name, by: undefined, answering: undefined, unless: unseen };
  const rewritten = rewrite(block.directives, name);
  const asked = rewritten.name;
  const unless =
    rewritten.unreadable === undefined ? unseen : `${quotedWords(rewritten.unreadable)} of a rule matches it`;
  const by = ORDER.flatMap((plugin) => block.directives.filter((each) => each.name === plugin)).find((each) =>
    answers(each, asked, block),
  );
  const [, own] = by?.name === 'forward' ? (SELF.exec(by.args[1] ?? '') ?? []) : [];
  if (own === undefined || hops > 2) return { block, name: asked, by, answering: block, unless };
  const next = routeOf(corefile, asked, Number(own.slice(1) || 53), hops + 1);
  return { ...next, block, unless: unless ?? next.unless };
}

/** CoreDNS asks the first of these that has the zone. */
const ORDER = ['template', 'kubernetes', 'forward'];

/** CoreDNS itself. */
const SELF = /^(?:dns:\/\/)?(?:127\.0\.0\.1|\[::1\])((?::\d+)?)$/;

function answers(directive: Directive, name: string, block: ServerBlock): boolean {
  const { name: plugin, args } = directive;
  const zones = pluginZones(
    plugin === 'template' ? args.slice(2) : plugin === 'forward' ? args.slice(0, 1) : args,
    block,
  );
  if (!zones.some((zone) => isWithin(name, zone))) return false;
  if (plugin === 'template') return optionsOf(directive, 'match').length === 0 && ['ANY', 'A'].includes(args[1] ?? '');
  return !optionsOf(directive, 'except').some((except) => except.some((zone) => isWithin(name, fullName(zone))));
}

function unseenIn({ blocks, files }: Corefile, block: ServerBlock | undefined): string | undefined {
  const [file] = [...(block?.files ?? []), ...files];
  if (file !== undefined) return `a file of ${quotedWords(`import ${file}`)} does`;
  const variable = blocks.flatMap(({ keys }) => keys).find(({ text }) => hasVariable(text));
  return variable === undefined ? undefined : `${quotedWords(variable.text)} does, which a variable decides`;
}

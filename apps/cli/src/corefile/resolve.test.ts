import { describe, expect, it } from 'vitest';
import { parseCorefile } from './parse.ts';
import { routeOf } from './resolve.ts';

function route(text: string, name = 'web.shop.svc.cluster.c2.') {
  const parsed = parseCorefile(text);
  if (!parsed.ok) throw new Error(parsed.reason);
  const { block, name: asked, by, answering, unless } = routeOf(parsed.value, name);
  const keys = (of: typeof block) => of?.keys.map(({ text: key }) => key).join(' ');
  return { block: keys(block), asked, by: by && [by.name, ...by.args].join(' '), answering: keys(answering), unless };
}

describe('a query comes to', () => {
  it.each([
    { name: 'the longest zone', text: '. {\n}\ncluster.c2 {\n}\nc2 {\n}\n', want: 'cluster.c2' },
    { name: 'the root zone', text: 'cluster.local {\n}\n.:53 {\n}\n', want: '.:53' },
    {
      name: 'none of other ports and schemes',
      text: '.:5353 {\n}\ntls://.:53 {\n}\nexample:53 {\n}\n',
      want: undefined,
    },
    { name: 'another port, if nothing has 53', text: 'cluster.local:1053 {\n}\n.:1053 {\n}\n', want: '.:1053' },
    {
      name: 'a zone of several, with commas and lines',
      text: 'example,\ndns://Cluster.C2.:53 {\n}\n. {\n}\n',
      want: 'example dns://Cluster.C2.:53',
    },
    { name: 'a quoted zone, not a comment', text: '# cluster.c2 {\n"cluster.c2" {\n}\n. {\n}\n', want: 'cluster.c2' },
    { name: 'a server block without braces', text: '.\nwhoami\n', want: '.' },
    {
      name: 'a server block of a snippet',
      text: '(all) {\ncluster.c2 {\n}\n}\nimport all\n. {\n}\n',
      want: 'cluster.c2',
    },
    { name: 'no block with a view', text: 'cluster.c2 {\nview lan {\nexpr true\n}\n}\n. {\n}\n', want: '.' },
  ])('$name', ({ text, want }) => {
    expect(route(text).block).toBe(want);
  });
});

describe('the rules of a block', () => {
  it.each([
    { name: 'exact', rule: 'name web.shop.svc.cluster.c2 a.example', want: 'a.example.' },
    { name: 'suffix', rule: 'stop name suffix .cluster.c2 .example', want: 'web.shop.svc.example.' },
    { name: 'prefix, as CoreDNS has it', rule: 'name prefix web api', want: 'api.shop.svc.cluster.c2.' },
    { name: 'substring, as CoreDNS has it', rule: 'name substring shop. s.', want: 'web.s.svc.cluster.c2.' },
    { name: 'regex', rule: String.raw`name regex (.*)\.c2\.$ {1}.c3`, want: 'web.shop.svc.cluster.c3.' },
    { name: 'quoted', rule: String.raw`"name" regex "(.*)\.c2\.$" "{1}.c3"`, want: 'web.shop.svc.cluster.c3.' },
    { name: 'in braces', rule: '{\nname suffix .c2 .c3\nanswer auto\n}', want: 'web.shop.svc.cluster.c3.' },
    { name: 'that stop', rule: 'name suffix .c2 .c3\nrewrite name suffix .c3 .c4', want: 'web.shop.svc.cluster.c3.' },
    {
      name: 'that continue',
      rule: 'continue name suffix .c2 .c3\nrewrite name suffix .c3 .c4',
      want: 'web.shop.svc.cluster.c4.',
    },
    { name: 'about something else', rule: 'stop type ANY A', want: 'web.shop.svc.cluster.c2.' },
  ])('$name', ({ rule, want }) => {
    expect(route(`. {\nrewrite ${rule}\n}\n`).asked).toBe(want);
  });

  it.each([
    { name: 'has a syntax of Go', pattern: '(?i)^WEB' },
    { name: 'takes too long', pattern: '^(([a-z.]+)+)+!$' },
    { name: 'is not valid', pattern: '(' },
  ])('are unknown if a pattern $name', ({ pattern }) => {
    expect(route(`. {\nrewrite name regex ${pattern} {1}\n}\n`).unless).toBe(`"${pattern}" of a rule matches it`);
  });
});

describe('the rewritten name is answered by', () => {
  it.each([
    { name: 'kubernetes', text: '. {\nforward . 1.1.1.1\nkubernetes c2\n}\n', want: 'kubernetes c2', answering: '.' },
    {
      name: 'kubernetes of a snippet',
      text: '(k) {\nkubernetes c2\n}\n. {\nimport k\n}\n',
      want: 'kubernetes c2',
      answering: '.',
    },
    {
      name: 'kubernetes with the zones of its block',
      text: 'c2 {\nkubernetes\n}\n',
      want: 'kubernetes',
      answering: 'c2',
    },
    {
      name: 'forward',
      text: '. {\nforward . 1.1.1.1\nkubernetes cluster.local\n}\n',
      want: 'forward . 1.1.1.1',
      answering: '.',
    },
    {
      name: 'no forward of other names',
      text: '. {\nforward . 1.1.1.1 {\nexcept c2\n}\n}\n',
      want: undefined,
      answering: '.',
    },
    {
      name: 'a template',
      text: '. {\ntemplate ANY ANY c2 {\nrcode NXDOMAIN\n}\nkubernetes c2\n}\n',
      want: 'template ANY ANY c2',
      answering: '.',
    },
    {
      name: 'CoreDNS itself',
      text: 'cluster.c2 {\nforward . 127.0.0.1:54\n}\n.:54 {\n}\nc2:54 {\nkubernetes\n}\n',
      want: 'kubernetes',
      answering: 'c2:54',
    },
    { name: 'forward, in a loop', text: '. {\nforward . 127.0.0.1\n}\n', want: 'forward . 127.0.0.1', answering: '.' },
  ])('$name', ({ text, want, answering }) => {
    expect(route(text)).toMatchObject({ by: want, answering });
  });

  it.each([
    {
      name: 'a file',
      text: '. {\nimport ../custom/*.override\n}\n',
      want: 'a file of "import ../custom/*.override" does',
    },
    {
      name: 'a file with server blocks',
      text: 'import custom/*.server\n. {\n}\n',
      want: 'a file of "import custom/*.server" does',
    },
    { name: 'a variable', text: '{$DOMAIN} {\n}\n. {\n}\n', want: '"{$DOMAIN}" does, which a variable decides' },
    { name: 'a variable of Windows', text: '{%DOMAIN%} {\n}\n', want: '"{%DOMAIN%}" does, which a variable decides' },
  ])('perhaps, by $name', ({ text, want }) => {
    expect(route(text).unless).toBe(want);
  });
});

/** Each has the one before twice. */
const doubling = Array.from({ length: 12 }, (_, i) => `(s${i + 1}) {\nimport s${i}\nimport s${i}\n}\n`);

describe('a hostile Corefile', () => {
  it.each([
    {
      name: 'a snippet in itself',
      text: '(a) {\nimport a\n}\n. {\nimport a\n}\n',
      want: 'it imports more than 10000 snippets and files',
    },
    {
      name: 'snippets that double',
      text: `(s0) {\n${'errors\n'.repeat(100)}}\n${doubling.join('')}. {\nimport s12\n}\n`,
      want: 'it has more than 200000 words',
    },
    { name: 'a brace too many', text: '. {\nlog }\n', want: 'line 2: "}" closes nothing' },
    { name: 'an import of nothing', text: '. {\nimport\n}\n', want: 'line 2: import needs a name' },
    { name: 'a word without an end', text: '. {\nlog "\n}\n', want: 'it ends before a "}"' },
  ])('is refused: $name', ({ text, want }) => {
    expect(parseCorefile(text)).toEqual({ ok: false, reason: want });
  });
});

import { docBlocks } from '@kube-semaphore/testkit';
import { describe, expect, it } from 'vitest';
import { corefileWith, corefileWithout } from './edit.ts';
import { parseCorefile } from './parse.ts';
import { oursIn } from './rules.ts';
import { corefiles, documented, ruleLines } from '../../test/support/corefiles.ts';

/** The Corefile of the page without its rules. */
const plain = documented.replaceAll(ruleLines, '');

/** What an older version wrote. */
const older = String.raw`    # semaphore link: begin
    rewrite stop {
        name regex ^((?:[^.]+\.)*)([^.]+)\.([^.]+)\.svc\.cluster\.c2\.$ {1}c2-{3}-73736d-{2}.sys-semaphore.svc.cluster.local
        answer name ^((?:[^.]+\.)*)c2-([^.]+?)-73736d-([^.]+)\.sys-semaphore\.svc\.cluster\.local\.$ {1}{3}.{2}.svc.cluster.c2
        answer value ^((?:[^.]+\.)*)c2-([^.]+?)-73736d-([^.]+)\.sys-semaphore\.svc\.cluster\.local\.$ {1}{3}.{2}.svc.cluster.c2
    }
    # semaphore link: end
`;

const marked = (corefile = '') => /^ *# semaphore link: begin\n([^]*?)^ *# semaphore link: end\n/m.exec(corefile)?.[1];

/** The Corefile with rules. @throws its reason */
function linked(corefile: string, remotes: readonly string[] = ['c2'], mcs = false): string {
  const result = corefileWith(corefile, { remotes, mcs });
  if (!result.ok) throw new Error(result.reason);
  return result.value;
}

/** The Corefile after an unlink of all. */
const unlinked = (corefile: string): unknown => corefileWithout(corefile, { removed: ['c2'], remaining: [] });

const ok = (value: string) => ({ ok: true, value });

describe('a Corefile', () => {
  it('gets the rules of the page, in a marked block', () => {
    const edited = linked(plain);
    expect(marked(edited)).toBe(documented.match(ruleLines)?.join(''));
    expect(edited.split(/^ *# semaphore link: begin\n[^]*# semaphore link: end\n/m).join('')).toBe(plain);
  });

  it.each(Object.entries(corefiles))('%s: stays at the second time, and ends as it was', (_, corefile) => {
    for (const mcs of [false, true]) {
      const edited = linked(corefile, ['c2', 'c3'], mcs);
      expect(edited).not.toBe(corefile);
      expect(linked(edited, ['c3', 'c2'], mcs)).toBe(edited);
      expect(unlinked(edited)).toEqual(ok(corefile));
      const left = corefileWithout(edited, { removed: ['c3'], remaining: ['c2'] });
      expect(left).toEqual(ok(linked(corefile, ['c2'], mcs)));
    }
  });

  it('follows the remotes of the overlay', () => {
    const edited = linked(linked(plain), ['c3']);
    expect([edited.includes('cluster\\.c2'), edited.includes('cluster\\.c3')]).toEqual([false, true]);
  });

  it('gets the rules of this version instead of older ones, wherever they are', () => {
    const old = plain.replace(/^ {4}kubernetes/m, `${older}$&`);
    expect(linked(old)).toBe(linked(plain));
    expect(linked(old.replaceAll(/^ *# semaphore link: .*\n/gm, ''))).toBe(linked(plain));
    expect(unlinked(old)).toEqual(ok(plain));
    // As after a migration, and a link of an older version.
    expect(linked(old.replace(/^ {4}kubernetes/m, `${older.replaceAll(/^ *#.*\n/gm, '')}$&`))).toBe(linked(plain));
  });

  it('keeps rules without our marks for clusters that it does not know, and those of others', () => {
    const others = older.replaceAll('c2', 'c9').replaceAll(/^ *#.*\n/gm, '');
    const own = String.raw`    rewrite name regex (.*)\.old\.example\.$ {1}.svc.cluster.c2` + '\n';
    const before = plain.replace(/^ {4}kubernetes/m, `${own}${others}$&`);
    expect(linked(before)).toContain(`${own}${others}`);
    const left = corefileWithout(linked(before), { removed: ['c2'], remaining: ['c3'] });
    expect(left).toMatchObject({ value: expect.stringContaining(others) as unknown });
    expect(unlinked(linked(before))).toEqual(ok(before.replace(others, '')));
  });

  it('also gets the zone of the page for ServiceImports, keeps it, and is as it was without it', () => {
    const edited = linked(plain, ['c2', 'c3'], true);
    expect(marked(edited)).toBe(docBlocks('mcs.md', 'In two minutes', '')[0]);
    expect(linked(edited)).toBe(linked(plain));
  });

  it('has no second zone for ServiceImports', () => {
    const zone = docBlocks('mcs.md', 'In two minutes', '')[0]!;
    const own = `${plain}${zone.replace('cache 5', 'cache 9')}`;
    expect(linked(own, ['c2'], true)).toBe(linked(own));
  });

  it('has the domain of the cluster', () => {
    const edited = linked('.:53 {\n\tkubernetes k8s.example. in-addr.arpa\n}\n');
    expect(edited).toContain('\t    name regex ');
    expect(edited).toContain('.sys-semaphore.svc.k8s.example\n');
    expect(edited).toContain(String.raw`\.sys-semaphore\.svc\.k8s\.example\.$ {1}{3}.{2}.svc.cluster.c2`);
  });

  it('has its rules in the block that gets the names, by zone, port and scheme', () => {
    const kubernetes = 'kubernetes cluster.local';
    const others = ['tls://.', 'dns://example', '.:5353'].map((keys) => `${keys} {\n    ${kubernetes}\n}\n`).join('');
    const edited = linked(`${others}.:53 cluster.local:5353 {\n    ${kubernetes} in-addr.arpa\n}\n`);
    expect(edited).toMatch(/^\.:53 cluster\.local:5353 \{\n {4}# semaphore link: begin\n/m);
    expect(edited.match(/semaphore link: begin/g)).toHaveLength(1);
  });

  it.each([
    { name: 'nothing', corefile: '', want: 'no "kubernetes" serves the names of the cluster' },
    {
      name: 'a comment only',
      corefile: '.:53 {\n    # kubernetes cluster.local\n}\n',
      want: 'no "kubernetes" serves the names of the cluster',
    },
    {
      name: 'a variable as its domain',
      corefile: '.:53 {\n    kubernetes {$DOMAIN} 10.96.0.0/16\n}\n',
      want: 'a variable has the domain of the cluster',
    },
    {
      name: 'two domains',
      corefile: 'a {\n    kubernetes a\n}\nb {\n    kubernetes b\n}\n',
      want: '"kubernetes" serves several domains: "a., b."',
    },
    {
      name: 'a brace too few',
      corefile: '.:53 {\n    kubernetes cluster.local {\n}\n',
      want: 'it ends before a "}"',
    },
    {
      name: 'an option that hides the mirrors',
      corefile: '.:53 {\n    kubernetes cluster.local {\n        namespaces shop default\n    }\n}\n',
      want: '"namespaces shop default" of "kubernetes" in the server block ".:53" hides sys-semaphore',
    },
    {
      name: 'another rule for the same names before ours',
      corefile: '.:53 {\n    rewrite name suffix .cluster.c2 .cluster.example\n    kubernetes cluster.local\n}\n',
      want:
        'the server block ".:53" rewrites "service.namespace.svc.cluster.c2" to ' +
        '"service.namespace.svc.cluster.example.", not to c2-namespace-73736d-service.sys-semaphore.svc.…',
    },
    {
      name: 'an address to listen on, where our block asks CoreDNS itself',
      corefile: 'cluster.local {\n    bind 10.96.0.10\n    kubernetes\n}\n. {\n    forward . 1.1.1.1\n}\n',
      want: 'the server block "cluster.local" has "bind", so CoreDNS may not listen where our rules would ask it',
    },
    {
      name: 'our zone',
      corefile: 'svc.cluster.c2 {\n    forward . 1.1.1.1\n}\ncluster.local {\n    kubernetes\n}\n',
      want: 'the server block "svc.cluster.c2" has the same zone as our rules, and no "kubernetes" for the cluster',
    },
  ])('with $name has no place for them', ({ corefile, want }) => {
    expect(corefileWith(corefile, { remotes: ['c2'] })).toEqual({ ok: false, reason: want });
  });
});

/** Whose names our rules are about, each as often as it is there. */
function namesIn(corefile: string): readonly string[] {
  const parsed = parseCorefile(corefile);
  if (!parsed.ok) throw new Error(parsed.reason);
  return oursIn(parsed.value).map(({ names = ['imports'] }) => names.join());
}

describe('our rules are known after', () => {
  const ours = Object.values(corefiles).map((corefile) => ({ corefile, edited: linked(corefile, ['c2'], true) }));

  /** Programs that write the file again. They don't keep our marks or our spaces. */
  const formatters: Readonly<Record<string, (corefile: string) => string>> = {
    'a program that drops comments': (corefile) => corefile.replaceAll(/^[ \t]*#.*\n/gm, ''),
    'one that indents with tabs': (corefile) => corefile.replaceAll('    ', '\t'),
    'one that quotes words': (corefile) =>
      corefile.replaceAll(/ (\^\S+) (\S+)$/gm, (_, from, to) => ` "${from}" "${to}"`),
    'one that joins lines': (corefile) =>
      corefile.replaceAll(
        /rewrite stop \{\n\s*(name regex .*)\n\s*(answer .*)\n\s*(answer .*)\n\s*\}/g,
        'rewrite stop $1 $2 $3',
      ),
    'an editor with other line ends': (corefile) => corefile.replaceAll('\n', '\r\n'),
  };

  it.each(Object.entries(formatters))('%s', (_, format) => {
    const formatted = ours.map(({ edited }) => format(edited));
    expect(formatted).not.toEqual(ours.map(({ edited }) => edited));
    // Nothing is there twice, and all of it goes.
    expect(formatted.map((each) => namesIn(linked(each, ['c2'], true)))).toEqual(
      ours.map(({ edited }) => namesIn(edited)),
    );
    expect(formatted.map(unlinked)).toEqual(ours.map(({ corefile }) => ok(format(corefile))));
  });
});

import { docBlocks } from '@kube-semaphore/testkit';
import { describe, expect, it } from 'vitest';
import { corefileWith, corefileWithout } from './corefile.ts';

const [documented = ''] = docBlocks('service-mirror.md', 'Names in CoreDNS', '');
const rules = /^ {4}rewrite stop \{\n[^]*?^ {4}\}\n/gm;

/** The Corefile of the page without its rules. */
const plain = documented.replaceAll(rules, '');

const marked = (corefile = '') => /^ *# semaphore link: begin\n([^]*?)^ *# semaphore link: end\n/m.exec(corefile)?.[1];

describe('a Corefile', () => {
  it('gets the rules of the page, in a marked block', () => {
    const edited = corefileWith(plain, { remotes: ['c2'] });
    expect(marked(edited)).toBe(documented.match(rules)?.join(''));
    expect(edited?.split(/^ *# semaphore link: begin\n[^]*# semaphore link: end\n/m).join('')).toBe(plain);
  });

  it('stays the same at the second time, also with a new order of remotes', () => {
    const edited = corefileWith(plain, { remotes: ['c2', 'c3'] })!;
    expect(corefileWith(edited, { remotes: ['c3', 'c2'] })).toBe(edited);
  });

  it('follows the remotes, and is as it was without any', () => {
    const edited = corefileWith(corefileWith(plain, { remotes: ['c2'] })!, { remotes: ['c3'] })!;
    expect([edited.includes('cluster\\.c2'), edited.includes('cluster\\.c3')]).toEqual([false, true]);
    expect(corefileWith(edited, { remotes: [] })).toBe(plain);
  });

  it('also gets the zone of the page for ServiceImports, keeps it, and is as it was without it', () => {
    const edited = corefileWith(plain, { remotes: ['c2', 'c3'], mcs: true })!;
    expect(marked(edited)).toBe(docBlocks('mcs.md', 'In two minutes', '')[0]);
    expect(corefileWith(edited, { remotes: ['c2', 'c3'], mcs: true })).toBe(edited);
    expect(corefileWithout(edited, ['c3'])).toBe(corefileWith(plain, { remotes: ['c3'], mcs: true }));
    expect(corefileWith(edited, { remotes: ['c2'] })).toBe(corefileWith(plain, { remotes: ['c2'] }));
    expect(corefileWithout(edited, [])).toBe(plain);
  });

  it('has no second zone for ServiceImports', () => {
    const own = `${plain}${docBlocks('mcs.md', 'In two minutes', '')[0]}`;
    expect(corefileWith(own, { remotes: ['c2'], mcs: true })).toBe(corefileWith(own, { remotes: ['c2'] }));
    expect(corefileWith(own, { remotes: ['c2'] })).toContain('cluster\\.c2');
  });

  it('has the domain of the cluster', () => {
    const edited = corefileWith('.:53 {\n\tkubernetes k8s.example. in-addr.arpa\n}\n', { remotes: ['c2'] });
    expect(edited).toContain('\t    name regex ');
    expect(edited).toContain('.sys-semaphore.svc.k8s.example\n');
    expect(edited).toContain(String.raw`\.sys-semaphore\.svc\.k8s\.example\.$ {1}{3}.{2}.svc.cluster.c2`);
  });

  it.each([
    { name: 'no directive', corefile: '.:53 {\n    # kubernetes cluster.local\n}\n' },
    { name: 'two', corefile: 'a {\n    kubernetes a\n}\nb {\n    kubernetes b\n}\n' },
  ])('with $name for the cluster has no place for them', ({ corefile }) => {
    expect(corefileWith(corefile, { remotes: ['c2'] })).toBeUndefined();
  });
});

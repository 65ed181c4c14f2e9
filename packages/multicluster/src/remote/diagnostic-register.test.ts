import { expect, it } from 'vitest';
import { type Diagnostic, DiagnosticRegister } from './diagnostic-register.ts';

const bad: Diagnostic = { kind: 'problem', reason: 'bad-address', detail: 'x is no address' };
const worse: Diagnostic = { kind: 'problem', reason: 'bad-address', detail: 'y is no address' };
const finished: Diagnostic = { kind: 'expected', reason: 'finished', detail: 'it ended' };

function register() {
  const expected: Record<string, number> = {};
  const problems: Record<string, number> = {};
  const news: string[] = [];
  const skips = new DiagnosticRegister({
    onCount: ({ kind, reason }, count) => ((kind === 'problem' ? problems : expected)[reason] = count),
    onNew: (subject, { detail }) => news.push(`${subject}: ${detail}`),
  });
  return { skips, expected, problems, news };
}

it('counts the present diagnostics by reason', () => {
  const { skips, expected, problems } = register();
  skips.replace('pod a', [bad, worse]);
  skips.replace('pod b', [finished]);
  expect([problems, expected]).toEqual([{ 'bad-address': 2 }, { finished: 1 }]);
  expect(skips.all().map(({ subject, detail }) => `${subject}: ${detail}`)).toEqual([
    'pod a: x is no address',
    'pod a: y is no address',
    'pod b: it ended',
  ]);
  skips.replace('pod a', [bad]);
  skips.replace('pod b', []);
  expect([problems, expected]).toEqual([{ 'bad-address': 1 }, { finished: 0 }]);
});

it('counts a problem apart from the same expected reason', () => {
  const { skips, expected, problems } = register();
  skips.replace('pod a', [{ ...bad, kind: 'expected' }]);
  skips.replace('pod b', [bad]);
  expect([problems, expected]).toEqual([{ 'bad-address': 1 }, { 'bad-address': 1 }]);
  skips.replace('pod b', []);
  expect([problems, expected]).toEqual([{ 'bad-address': 0 }, { 'bad-address': 1 }]);
});

it('tells how many there are now of each kind and reason, with an example', () => {
  const { skips } = register();
  skips.replace('pod a', [bad, worse]);
  skips.replace('pod b', [{ ...bad, kind: 'expected' }]);
  skips.replace('pod c', [{ ...bad, reason: 'gone' }]);
  skips.replace('pod c', []);
  expect(skips.counts()).toEqual([
    { kind: 'expected', reason: 'bad-address', count: 1, example: 'pod b: x is no address' },
    { kind: 'problem', reason: 'bad-address', count: 2, example: 'pod a: x is no address' },
  ]);
});

it('reports a diagnostic once, for as long as it lasts', () => {
  const { skips, news } = register();
  skips.replace('pod a', [bad]);
  skips.replace('pod a', [bad]);
  skips.replace('pod a', [bad, worse]);
  expect(news).toEqual(['pod a: x is no address', 'pod a: y is no address']);
  skips.replace('pod a', []);
  skips.replace('pod a', [bad]);
  expect(news).toHaveLength(3);
});

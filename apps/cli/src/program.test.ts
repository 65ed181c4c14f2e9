import { docPage } from '@kube-semaphore/testkit';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { pageIn } from './output/format.ts';
import { programOf, runProgram } from './program.ts';

/** A terminal in memory. */
function invocation() {
  const written: string[] = [];
  const terminal = {
    print: (text: string) => void written.push(text),
    complain: (text: string) => void written.push(text),
    isInteractive: false,
    paint: (_: string, text: string) => text,
    whileWaiting: async <T>(_: string, work: Promise<T>) => work,
  };
  return { written, name: 'kubectl semaphore', terminal, signal: new AbortController().signal };
}

const program = programOf(invocation(), () => undefined);
const commands = program.commands.map((command) => command.name());

describe('the program', () => {
  it.each(commands)('has an example in the help of %s, by the name that it was called', async (command) => {
    const { written, ...where } = invocation();
    expect(await runProgram([command, '--help'], where)).toBe(0);
    expect(written.join('')).toContain(`\nExample:\n  $ kubectl semaphore ${command}`);
  });

  it('prints its version', async () => {
    const { written, ...where } = invocation();
    expect([await runProgram(['--version'], where), written]).toEqual([0, ['0.1.0\n']]);
  });
});

describe('the output', () => {
  const formatsOf = (command: string): readonly string[] =>
    program.commands.find((each) => each.name() === command)?.options.find(({ long }) => long === '--output')
      ?.argChoices ?? [];

  it('is YAML for each command that has JSON, and only these choose a format', () => {
    const choosing = commands.filter((command) => formatsOf(command).length > 0);
    expect(choosing).toEqual(['status', 'check', 'test', 'explain', 'graph', 'export', 'drain', 'undrain']);
    for (const command of choosing) expect(formatsOf(command).slice(-2)).toEqual(['json', 'yaml']);
  });

  it.each(['json', 'yaml'] as const)('has the same content: %s', (format) => {
    const page = { schemaVersion: '1', ok: true, hops: [{ detail: 'no\u001b[2J' }] };
    expect(parse(pageIn(format, page, () => ''))).toEqual(page);
  });
});

describe('an error', () => {
  it.each([
    { argv: ['stat'] },
    { argv: ['status', '--contexts', 'c1'] },
    { argv: ['status', '-o', 'xml'] },
    { argv: ['explain'] },
    { argv: ['check', '--wait', 'long'] },
    { argv: ['completion', 'csh'] },
    { argv: ['test', '--service', 'web', '--kubeconfig', '/nonexistent'] },
  ])('begins with the name of the program, also if commander writes it: $argv', async ({ argv }) => {
    const { written, ...where } = invocation();
    expect([await runProgram(argv, where), written.join('')]).toEqual([
      2,
      expect.stringMatching(/^kubectl semaphore: (?!error)[^\n]+\n/),
    ]);
  });
});

const lines = ['cli.md', 'check.md'].flatMap((page) =>
  Array.from(docPage(page).matchAll(/^semaphore .+/gm), ([line]) => line),
);

describe('the docs', () => {
  it.each(lines)('have only commands that exist: %s', (line) => {
    const [, name = '', ...words] = line.split(' ');
    const command = program.commands.find((each) => each.name() === name);
    expect(command?.parseOptions(words).unknown).toEqual([]);
  });
});

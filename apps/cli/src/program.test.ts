import { docPage } from '@kube-semaphore/testkit';
import { describe, expect, it } from 'vitest';
import { programOf, runProgram } from './program.ts';

/** A terminal in memory. */
function surroundings() {
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

const program = programOf(surroundings(), () => undefined);
const commands = program.commands.map((command) => command.name());

describe('the program', () => {
  it.each(commands)('has an example in the help of %s, by the name that it was called', async (command) => {
    const { written, ...where } = surroundings();
    expect(await runProgram([command, '--help'], where)).toBe(0);
    expect(written.join('')).toContain(`\nExample:\n  $ kubectl semaphore ${command}`);
  });

  it('prints its version', async () => {
    const { written, ...where } = surroundings();
    expect([await runProgram(['--version'], where), written]).toEqual([0, ['0.1.0\n']]);
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

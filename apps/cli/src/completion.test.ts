import { execFileSync } from 'node:child_process';
import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { completionOf, shells } from './completion.ts';

const program = new Command('semaphore');
program.command('status').description("Shows it, as it's seen.").option('--context <name>').option('-w, --watch');
program.command('completion');

describe('a completion', () => {
  it.each([
    { typed: ['semaphore', 's'], want: ['status'] },
    { typed: ['semaphore', ''], want: ['status', 'completion'] },
    { typed: ['semaphore', 'status', '--w'], want: ['--watch'] },
    { typed: ['semaphore', 'status', '--context', 'c1', ''], want: ['--context', '--watch'] },
    { typed: ['semaphore', 'completion', ''], want: [] },
  ])('of bash completes $typed', ({ typed, want }) => {
    const script = `${completionOf(program, 'bash')}
      COMP_WORDS=(${typed.map((word) => `'${word}'`).join(' ')}) COMP_CWORD=${typed.length - 1}
      _semaphore; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const printed = execFileSync('bash', ['-c', script], { encoding: 'utf8' });
    expect(printed.split('\n').filter((line) => line !== '')).toEqual(want);
  });

  it.each(shells)('of %s has each command and option', (shell) => {
    const script = completionOf(program, shell);
    for (const word of ['status', 'completion', 'context', 'watch']) expect(script).toContain(word);
  });
});

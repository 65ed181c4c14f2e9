import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readArgv } from './argv.ts';

const grammar = {
  flags: new Map([
    ['name', { isSwitch: false }],
    ['kube-config', { isSwitch: false }],
    ['svc-sync', { isSwitch: true }],
  ]),
  subcommands: [{ name: 'plan', description: '' }],
  elsewhere: { status: 'semaphore-other' },
};

const read = (...argv: string[]) => readArgv(argv, grammar);

describe('readArgv', () => {
  it.each([
    { name: 'reads one hyphen and a space', argv: ['-name', 'c2'], want: { name: 'c2' } },
    { name: 'reads one hyphen and =', argv: ['-name=c2'], want: { name: 'c2' } },
    { name: 'reads two hyphens and a space', argv: ['--name', 'c2'], want: { name: 'c2' } },
    { name: 'reads two hyphens and =', argv: ['--name=c2'], want: { name: 'c2' } },
    { name: 'keeps a = in a value', argv: ['-name', 'a=b'], want: { name: 'a=b' } },
    { name: 'keeps a second = in a value', argv: ['-name=a=b'], want: { name: 'a=b' } },
    { name: 'keeps a value that begins with a hyphen', argv: ['-name', '-1s'], want: { name: '-1s' } },
    { name: 'keeps a value that looks like a flag', argv: ['-name', '-svc-sync'], want: { name: '-svc-sync' } },
    { name: 'keeps a value that looks like a help flag', argv: ['-name', '-help'], want: { name: '-help' } },
    { name: 'keeps two hyphens as a value', argv: ['-name', '--'], want: { name: '--' } },
    { name: 'keeps an empty value after =', argv: ['-name='], want: { name: '' } },
    { name: 'keeps an empty value after a space', argv: ['-name', ''], want: { name: '' } },
    { name: 'lets the last of a repeated flag win', argv: ['-name=a', '--name', 'b'], want: { name: 'b' } },
    { name: 'reads a switch alone', argv: ['-svc-sync', '-name=a'], want: { 'svc-sync': 'true', name: 'a' } },
    { name: 'reads a switch with =', argv: ['--svc-sync=false'], want: { 'svc-sync': 'false' } },
    { name: 'takes two hyphens at the end', argv: ['-name=a', '--'], want: { name: 'a' } },
  ])('$name', ({ argv, want }) => {
    const line = read(...argv);
    expect(Object.fromEntries(line.values)).toEqual(want);
    expect(line).toMatchObject({ problems: [], subcommand: undefined, wants: undefined });
  });

  it.each([
    { name: 'takes a subcommand first', argv: ['plan', '-name=a'], subcommand: 'plan', wants: undefined },
    { name: 'takes -h for help', argv: ['-h'], subcommand: undefined, wants: 'help' },
    { name: 'takes -help for help', argv: ['-help'], subcommand: undefined, wants: 'help' },
    { name: 'takes --help of a subcommand', argv: ['plan', '--help'], subcommand: 'plan', wants: 'help' },
    { name: 'takes -version', argv: ['-version'], subcommand: undefined, wants: 'version' },
    { name: 'takes --version', argv: ['--version'], subcommand: undefined, wants: 'version' },
    {
      name: 'takes the first of -version and -help',
      argv: ['-version', '-h'],
      subcommand: undefined,
      wants: 'version',
    },
  ])('$name', ({ argv, subcommand, wants }) => {
    expect(read(...argv)).toMatchObject({ subcommand, wants, problems: [] });
  });

  it.each([
    { name: 'refuses a word after a subcommand', argv: ['plan', 'c'], want: ['unexpected word "c"'] },
    { name: 'names an unknown flag', argv: ['-bogus=1'], want: ['unknown flag -bogus'] },
    {
      name: 'suggests the nearest flag',
      argv: ['--kubeconfig', 'f'],
      want: ['unknown flag -kubeconfig, did you mean -kube-config?'],
    },
    { name: 'does not repeat the value of an unknown flag', argv: ['-token', 's3cret'], want: ['unknown flag -token'] },
    { name: 'does not repeat a value after = either', argv: ['-token=s3cret'], want: ['unknown flag -token'] },
    { name: 'names a flag without its value', argv: ['-name'], want: ['-name needs a value'] },
    { name: 'refuses a word', argv: ['apply'], want: ['unexpected word "apply"'] },
    {
      name: 'names the program that has a subcommand',
      argv: ['status'],
      want: ['unexpected word "status": it is a command of semaphore-other'],
    },
    { name: 'suggests the nearest subcommand', argv: ['plam'], want: ['unexpected word "plam", did you mean plan?'] },
    {
      name: 'refuses a subcommand after flags',
      argv: ['-svc-sync', 'plan'],
      want: ['unexpected word "plan": plan must come before all flags'],
    },
    {
      name: 'requires = between a switch and its value',
      argv: ['-svc-sync', 'false'],
      want: ['write -svc-sync=false, with a "="'],
    },
    { name: 'refuses words after two hyphens', argv: ['--', '-name=a'], want: ['unexpected word "-name=a"'] },
    { name: 'refuses a lone hyphen', argv: ['-'], want: ['unexpected word "-"'] },
    { name: 'refuses three hyphens', argv: ['---name=a'], want: ['unexpected word "---name=a"'] },
    { name: 'refuses a flag without a name', argv: ['-=a'], want: ['unexpected word "-=a"'] },
    { name: 'does not know property names of Object', argv: ['-constructor=1'], want: ['unknown flag -constructor'] },
    {
      name: 'finds every problem',
      argv: ['-x=1', 'y', '-name'],
      want: ['unknown flag -x', 'unexpected word "y"', '-name needs a value'],
    },
  ])('$name', ({ argv, want }) => {
    expect(read(...argv).problems).toEqual(want);
  });

  it('gives any value back verbatim, however it is attached', () => {
    fc.assert(
      fc.property(fc.string(), fc.constantFrom('-', '--'), (value, hyphens) => {
        expect(read(`${hyphens}name`, value)).toMatchObject({ values: new Map([['name', value]]), problems: [] });
        expect(read(`${hyphens}name=${value}`)).toMatchObject({ values: new Map([['name', value]]), problems: [] });
      }),
    );
  });
});

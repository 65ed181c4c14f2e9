import { bad, good } from '@kube-semaphore/net';
import { text } from '@kube-semaphore/options';
import { beforeEach, describe, expect, it } from 'vitest';
import { Findings } from './problems.ts';
import { clusterName } from './option-types.ts';

const name = text('name');
let findings: Findings;

beforeEach(() => {
  findings = new Findings();
});

describe('Findings', () => {
  it('returns valid values, and collects problems with their place', () => {
    expect(findings.check('a', good(1), 0)).toBe(1);
    expect(findings.check('b', bad('it is bad'), 0)).toBe(0);
    expect(findings.problems).toEqual(['b: it is bad']);
  });

  it('takes the first text that is set', () => {
    expect(
      findings.first(
        [
          { at: 'a', value: '' },
          { at: 'b', value: undefined },
          { at: 'c', value: 'x' },
          { at: 'd', value: 'y' },
        ],
        name,
      ),
    ).toBe('x');
    expect(findings.first([{ at: 'a', value: '' }], name)).toBeUndefined();
    expect(findings).toMatchObject({ problems: [], warnings: [] });
  });

  it('checks only the text that is used', () => {
    findings.first(
      [
        { at: 'a', value: 'a/b' },
        { at: 'b', value: 'c/d' },
      ],
      clusterName,
    );
    expect(findings.problems).toEqual([expect.stringMatching(/^a: "a\/b" is not a valid cluster name/)]);
  });

  it('warns of older spellings, and says whether they are ignored', () => {
    const older = { at: 'old', value: 'x', newer: 'new' };
    findings.first([{ at: 'new', value: '' }, older], name);
    findings.first([{ at: 'new', value: 'y' }, older], name);
    expect(findings.warnings).toEqual(['old is an older spelling: use new', 'old is ignored: new overrides it']);
  });

  it('names every place of a missing text except the older ones', () => {
    const places = [
      { at: 'a', value: '' },
      { at: 'b', value: undefined },
      { at: 'c', value: '', newer: 'b' },
    ] as const;
    expect(findings.required([...places], name)).toBe('');
    expect(findings.problems).toEqual(['a is required, or b']);
  });
});

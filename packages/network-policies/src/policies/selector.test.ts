import { describe, expect, it } from 'vitest';
import type { LabelSelector } from '@kube-semaphore/kube-objects';
import { requirementsOn, selects } from './selector.ts';

const selector = (parts: Partial<LabelSelector>): LabelSelector => ({
  matchLabels: {},
  matchExpressions: [],
  ...parts,
});
const expression = (operator: string, ...values: string[]) =>
  selector({ matchExpressions: [{ key: 'k', operator, values }] });

describe('selects', () => {
  // The table of Requirement.Matches in k8s.io/apimachinery/pkg/labels.
  it.each([
    { name: 'In', of: expression('In', 'a', 'b'), a: true, c: false, absent: false, empty: false },
    { name: 'In with the empty value', of: expression('In', ''), a: false, c: false, absent: false, empty: true },
    { name: 'NotIn', of: expression('NotIn', 'a', 'b'), a: false, c: true, absent: true, empty: true },
    { name: 'Exists', of: expression('Exists'), a: true, c: true, absent: false, empty: true },
    { name: 'DoesNotExist', of: expression('DoesNotExist'), a: false, c: false, absent: true, empty: false },
    { name: 'matchLabels', of: selector({ matchLabels: { k: 'a' } }), a: true, c: false, absent: false, empty: false },
    {
      name: 'matchLabels with the empty value',
      of: selector({ matchLabels: { k: '' } }),
      a: false,
      c: false,
      absent: false,
      empty: true,
    },
    { name: 'the empty selector', of: selector({}), a: true, c: true, absent: true, empty: true },
    { name: 'an unknown operator', of: expression('Gt', '1'), a: false, c: false, absent: false, empty: false },
  ])('gives $name the meaning that Kubernetes gives it', ({ of, a, c, absent, empty }) => {
    expect({
      a: selects(of, { k: 'a' }),
      c: selects(of, { k: 'c' }),
      absent: selects(of, {}),
      empty: selects(of, { k: '' }),
    }).toEqual({ a, c, absent, empty });
  });

  it('needs every requirement', () => {
    const both = selector({
      matchLabels: { k: 'a' },
      matchExpressions: [{ key: 'x', operator: 'Exists', values: [] }],
    });
    expect([selects(both, { k: 'a', x: '1' }), selects(both, { k: 'a' }), selects(both, { x: '1' })]).toEqual([
      true,
      false,
      false,
    ]);
  });

  it('takes no label from the prototype of an object', () => {
    expect(selects(selector({ matchExpressions: [{ key: 'constructor', operator: 'Exists', values: [] }] }), {})).toBe(
      false,
    );
  });
});

it('requirementsOn finds a key in matchLabels and in matchExpressions', () => {
  const found = requirementsOn(
    'k',
    selector({
      matchLabels: { k: 'a', x: 'b' },
      matchExpressions: [
        { key: 'k', operator: 'Exists', values: [] },
        { key: 'y', operator: 'Exists', values: [] },
      ],
    }),
  );
  expect(found.map(({ operator }) => operator)).toEqual(['In', 'Exists']);
});

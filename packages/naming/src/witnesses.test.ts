import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseReport, reportText, Witnesses } from './witnesses.ts';

const nodeName = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,8}[a-z0-9])?$/);
const names = (prefix: string, count: number) => Array.from({ length: count }, (_, i) => `${prefix}${i}`);

describe('the witnesses of a node', () => {
  it('are the same in all releases', () => {
    const witnesses = new Witnesses(names('n', 10));
    expect(['m1', 'm2', 'ip-10-0-0-1.ec2.internal'].map((node) => witnesses.of(node))).toMatchInlineSnapshot(`
      [
        [
          "n6",
          "n9",
          "n8",
          "n2",
          "n4",
        ],
        [
          "n0",
          "n1",
          "n7",
          "n5",
          "n6",
        ],
        [
          "n3",
          "n1",
          "n5",
          "n4",
          "n6",
        ],
      ]
    `);
  });

  it('are five, or all agents if there are fewer, in no order of the agents', () => {
    fc.assert(
      fc.property(fc.uniqueArray(nodeName, { maxLength: 20 }), nodeName, (agents, node) => {
        const found = new Witnesses(agents).of(node);
        expect(new Set(found).size).toBe(Math.min(5, agents.length));
        expect(agents).toEqual(expect.arrayContaining([...found]));
        expect(new Witnesses(agents.toReversed()).of(node)).toEqual(found);
      }),
    );
  });

  it('stay when an agent goes that is not one of them, and else change in one place', () => {
    fc.assert(
      fc.property(fc.uniqueArray(nodeName, { minLength: 7, maxLength: 20 }), nodeName, (agents, node) => {
        const found = new Witnesses(agents).of(node);
        for (const gone of agents) {
          const left = new Witnesses(agents.filter((agent) => agent !== gone)).of(node);
          const stayed = found.filter((agent) => agent !== gone);
          expect(left.slice(0, stayed.length)).toEqual(stayed);
        }
      }),
    );
  });

  it('share the work: of 1,000 nodes and 1,000 agents, no agent watches more than 20', () => {
    const witnesses = new Witnesses(names('n', 1_000));
    const watched = names('m', 1_000).flatMap((node) => witnesses.of(node));
    const counts = [...Map.groupBy(watched, (agent) => agent).values()].map(({ length }) => length);
    expect(watched).toHaveLength(5_000);
    expect(Math.max(...counts)).toBeLessThanOrEqual(20);
    expect(counts.length).toBeGreaterThan(980);
  });
});

describe('a report', () => {
  it('is read as it was written', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(nodeName, { minLength: 1 }),
        fc.integer({ min: 1, max: 9_999_999 }),
        (silent, nodes) => {
          expect(parseReport(reportText({ silent, nodes }))).toEqual({ silent, nodes });
        },
      ),
    );
  });

  it.each(['', 'm1', 'm1 of 0', 'm1 of', ' of 3', ',m1 of 3', 'M1 of 3', 'm1,m2 of 3 ', 'm1 of 12345678', 'm_1 of 3'])(
    'is nothing in %j',
    (text) => {
      expect(parseReport(text)).toBeUndefined();
    },
  );
});

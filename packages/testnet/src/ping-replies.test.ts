import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PingReplies } from './ping-replies.ts';

const line = (number: number): string => `64 bytes from 10.0.0.2: icmp_seq=${number % 65_536} ttl=64 time=0.05 ms\n`;

describe('PingReplies', () => {
  it.each([
    { name: 'all', numbers: [1, 2, 3], want: { received: 3, latest: 3, missing: 0 } },
    { name: 'a gap', numbers: [1, 4], want: { received: 2, latest: 4, missing: 2 } },
    { name: 'those that overtake each other', numbers: [2, 1, 3], want: { received: 3, latest: 3, missing: 0 } },
    { name: 'the same one twice', numbers: [1, 1, 2], want: { received: 2, latest: 2, missing: 0 } },
    { name: 'none before a late first one', numbers: [40_000], want: { received: 1, latest: 40_000, missing: 39_999 } },
  ])('counts $name', ({ numbers, want }) => {
    const replies = new PingReplies();
    replies.push(numbers.map(line).join(''));
    expect({ received: replies.received, latest: replies.latest, missing: replies.missing() }).toEqual(want);
  });

  it('counts on when the numbers wrap', () => {
    const replies = new PingReplies();
    for (let number = 1; number <= 140_000; number++) if (number !== 65_536) replies.push(line(number));
    expect([replies.latest, replies.missing()]).toEqual([140_000, 1]);
  });

  it('counts missing replies after the latest one, if requested', () => {
    const replies = new PingReplies();
    replies.push(line(1) + line(2));
    expect(replies.missing(5)).toBe(3);
  });

  it('does not count an error as a reply', () => {
    const replies = new PingReplies();
    replies.push(
      'From 10.0.0.1 icmp_seq=1 Destination Host Unreachable\nPING 10.0.0.2 (10.0.0.2) 56(84) bytes of data.\n',
    );
    expect(replies.received).toBe(0);
  });

  it('accepts text in any pieces', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(200), { maxLength: 20 }), (cuts) => {
        const text = [1, 2, 3, 5].map(line).join('');
        const places = [0, ...cuts.map((cut) => cut % text.length).toSorted((a, b) => a - b), text.length];
        const replies = new PingReplies();
        for (const [i, place] of places.entries()) replies.push(text.slice(places[i - 1] ?? 0, place));
        expect([replies.received, replies.missing()]).toEqual([4, 1]);
      }),
    );
  });
});

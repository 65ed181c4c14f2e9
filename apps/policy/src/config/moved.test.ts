import { describe, expect, it } from 'vitest';
import { moved } from './moved.ts';

const example = '--from c2/beta/pod/web --to c1/alpha/deployment/db:5432/TCP';

describe('explain, which has moved', () => {
  it.each([
    {
      words: ['c2/beta/pod/web', 'alpha/deployment/db', '5432/TCP'],
      want: '--from c2/beta/pod/web --to LOCAL/alpha/deployment/db:5432/TCP',
    },
    {
      words: ['c2/namespace/feed', 'namespace/alpha', '80'],
      want: '--from c2/namespace/feed --to LOCAL/namespace/alpha:80',
    },
    { words: ['10.4.0.20', 'alpha/pod/db', '80'], want: '--from LOCAL/10.4.0.20 --to LOCAL/alpha/pod/db:80' },
    { words: ['web', 'alpha/pod/db', '80'], want: example },
    { words: ['c2/beta/pod/web', 'alpha/pod/$(db)', '80'], want: example },
    { words: ['c2/beta/pod/web', 'alpha/pod/db', 'http'], want: example },
    { words: [], want: example },
  ])('names what $words is now', ({ words, want }) => {
    expect(moved.explain(words)).toBe(`"semaphore explain ${want}", with contexts of your kubeconfig`);
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { admit } from './admit.ts';
import type { ProfileRemote } from './profile.ts';

const remote = (name: string, i: number): ProfileRemote =>
  ({ profile: `fleet/${i}`, name }) as unknown as ProfileRemote;

/** A file with the remote c0, in which each name may be used once, and none may be bad. */
function file(more: readonly ProfileRemote[]) {
  const names = ['c0', ...more.map(({ name }) => name)];
  const problems = names.flatMap((name, i) => [
    ...(name === 'bad' ? [`remotes[${i}].name: it is bad`] : []),
    ...(names.indexOf(name) < i ? [`remotes: name ${name} is used twice`] : []),
  ]);
  return problems.length > 0 ? { ok: false as const, problems } : { ok: true as const, names };
}

describe('remotes of an inventory', () => {
  it('are added, but for those that the file refuses', async () => {
    const remotes = ['c2', 'c0', 'bad', 'c3', 'c2'].map(remote);
    const { settings, refused } = await admit(remotes, file);
    expect(settings).toEqual({ ok: true, names: ['c0', 'c2', 'c3'] });
    expect([...refused]).toEqual([
      ['fleet/1', 'remotes: name c0 is used twice'],
      ['fleet/2', 'name: it is bad'],
      ['fleet/4', 'remotes: name c2 is used twice'],
    ]);
  });

  it('do not hide the problems of the file', async () => {
    const broken = { ok: false as const, problems: ['local.name: it is required'] };
    const { settings, refused } = await admit([remote('c2', 0)], () => broken);
    expect([settings, refused.size]).toEqual([broken, 0]);
  });

  it('have a short reason each, and leave turns to others', async () => {
    let [turns, calls] = [0, 0];
    const turn = (): void => void (turns++, (next = setImmediate(turn)));
    let next = setImmediate(turn);
    const { refused } = await admit(
      Array.from({ length: 64 }, (_, i) => remote('bad', i)),
      () => {
        const problems = Array.from({ length: 1_000 }, (_, i) => `remotes[0].podSubnet[${i}]: \u001b is bad`);
        return calls++ === 0 ? { ok: true as const } : { ok: false as const, problems };
      },
    );
    clearImmediate(next);
    expect([refused.size, turns]).toEqual([64, expect.toSatisfy((count: number) => count >= calls / 2)]);
    for (const reason of refused.values()) expect(reason).toMatch(/^podSubnet\[0\]: \\u001b is bad; [ -~…]{0,1000}$/);
  });

  it('are those that are added one after the other', async () => {
    const names = fc.array(fc.constantFrom('c0', 'c1', 'c2', 'c3', 'c4', 'bad'), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(names, async (all) => {
        const { settings } = await admit(all.map(remote), file);
        const want = all.filter((name, i) => name !== 'bad' && name !== 'c0' && all.indexOf(name) === i);
        expect(settings).toEqual({ ok: true, names: ['c0', ...want] });
      }),
    );
  });
});

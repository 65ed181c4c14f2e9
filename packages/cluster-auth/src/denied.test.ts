import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { deniedHint } from './denied.ts';
import { readText } from './rotating-files.ts';

/** The user of our images; root may read everything, so a test that runs as root is that user for a while. */
const OTHER = 65_532;

it('a file that its mode keeps from us is told with the mode, and what mends it in a Pod', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'denied-'));
  onTestFinished(() => rm(dir, { recursive: true }));
  const file = join(dir, 'token');
  await writeFile(file, 't');
  await chmod(dir, 0o755);
  await chmod(file, 0o000);
  const [user, group] = [process.getuid!(), process.getgid!()];
  const isRoot = user === 0;
  if (isRoot) {
    process.setegid!(OTHER);
    process.seteuid!(OTHER);
    onTestFinished(() => {
      process.seteuid!(user);
      process.setegid!(group);
    });
  }
  const [as, of] = isRoot ? [OTHER, OTHER] : [user, group];
  await expect(readText(file)).rejects.toThrow(
    `${file} can't be read: permission denied (EACCES): its mode is 0000 and its owner ${user}, and we are user ${as}; in a Pod securityContext.fsGroup: ${of} mends it, or defaultMode: 0444 of the volume`,
  );
});

it.each([Object.assign(new Error('x'), { code: 'ENOENT' }), new Error('y'), undefined])(
  'nothing is said of %s',
  (error) => {
    expect(deniedHint('/nonexistent', error)).toBe('');
  },
);

it('a folder that keeps its files from us is told without their mode', () => {
  expect(deniedHint('/nonexistent/token', Object.assign(new Error('x'), { code: 'EACCES' }))).toMatch(
    /^: we are user \d+; in a Pod securityContext\.fsGroup: \d+ mends it, or defaultMode: 0444 of the volume$/,
  );
});

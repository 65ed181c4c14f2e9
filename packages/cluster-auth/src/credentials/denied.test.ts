import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { deniedHint } from './denied.ts';
import { readText } from './rotating-files.ts';

/** The user of our images; root may read everything, so a test that runs as root becomes that user. */
const OTHER = 65_532;

it('the error of a file that we may not read has its mode, and a hint for Pods', async () => {
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
    `${file} can't be read: permission denied (EACCES): its mode is 0000, its owner is ${user}, and ` +
      `we run as user ${as}; in a Pod, set securityContext.fsGroup: ${of}, or defaultMode: 0444 for the volume`,
  );
});

it.each([Object.assign(new Error('x'), { code: 'ENOENT' }), new Error('y'), undefined])(
  'there is no hint for %s',
  (error) => {
    expect(deniedHint('/nonexistent', error)).toBe('');
  },
);

it('the hint has no mode if we may not search the folder', () => {
  expect(deniedHint('/nonexistent/token', Object.assign(new Error('x'), { code: 'EACCES' }))).toMatch(
    /^: we run as user \d+; in a Pod, set securityContext\.fsGroup: \d+, or defaultMode: 0444 for the volume$/,
  );
});

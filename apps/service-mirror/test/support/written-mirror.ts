import type { LocalServices } from './local-services.ts';
import type { MirrorProcess } from './mirror-process.ts';
import type { RemoteServices } from './remote-services.ts';

export const web = { name: 'web', namespace: 'default' };

/** The local name of `web`. */
export const mirror = 'c2-default-73736d-web';

/** Starts the app, and waits until it wrote the mirror. It knows what it wrote, so every later change is a foreign one. */
export async function startWithMirror({
  sources,
  mirrors,
  start,
}: {
  readonly sources: RemoteServices;
  readonly mirrors: LocalServices;
  readonly start: () => Promise<MirrorProcess>;
}): Promise<MirrorProcess> {
  await sources.add(web);
  await sources.addSlice({ name: 'web-a', service: 'web', endpoints: ['10.4.0.1'] });
  const program = await start();
  await mirrors.become({ [mirror]: ['10.4.0.1'] });
  await program.logged('slice created');
  return program;
}

import { containerName, removeContainer } from '../containers/container.ts';
import { podmanFlags, runWords } from '../containers/run.ts';
import type { Runtime } from './runtime.ts';

/**
 * Runs containers as they are: by podman, of the images that `npm run images` built, as the user and with the rights that
 * the manifest says, in the network of their Pod.
 */
export const imageRuntime: Runtime = ({ image, command, args, env, binds, security, place, hostname }) => {
  const name = containerName();
  const { networkFile } = place;
  return {
    file: 'podman',
    args: [...podmanFlags(), ...runWords({ name, image, command, args, env, binds, security, networkFile, hostname })],
    env: process.env,
    exec: (_pid, words) => ['podman', [...podmanFlags(), 'exec', name, ...words]],
    remove: (ended) => removeContainer(name, ended),
  };
};

import { imageName, podman } from '@kube-semaphore/testkit';

/** The metadata of an image, from podman. */
export type ImageConfig = {
  readonly Config: {
    readonly User: string;
    readonly Env: readonly string[];
    readonly Entrypoint: readonly string[];
    readonly Labels: Readonly<Record<string, string>>;
  };
};

/** @throws {Error} if it wasn't built */
export async function inspect(app: string): Promise<ImageConfig['Config']> {
  const [image] = JSON.parse(await podman(['image', 'inspect', imageName(app)])) as readonly ImageConfig[];
  if (image === undefined) throw new Error(`no image of ${app}`);
  return image.Config;
}

/** The folder where the files of an image are mounted, until `unmount`. */
export const mount = async (app: string): Promise<string> => (await podman(['image', 'mount', imageName(app)])).trim();

export const unmount = (app: string): Promise<string> => podman(['image', 'umount', imageName(app)]);

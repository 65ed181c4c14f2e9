import type { Bind } from '../containers/run.ts';
import { NODE_COMPILE_CACHE, readLauncher } from '../program/launcher.ts';
import { mountScript } from './mounts.ts';
import type { ContainerStart, Runtime } from './runtime.ts';

/** What stands for an image where containers are processes of this machine. */
export type ProcessImage = {
  /** Of its program: the launcher that the workspace has. */
  readonly launcher: string;
  /** Programs of this machine that the image has somewhere else, by their paths in the image. */
  readonly files?: Readonly<Record<string, string>>;
};

/** The programs of this machine are the image's, too. */
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/**
 * Runs containers as processes of the workspace's programs, in mount namespaces of their own that have the volumes: no
 * image is needed. They see the machine's files and are root, whoever the manifest says they are.
 *
 * @param images by their names, without registry and tag
 */
export function processRuntime(images: Readonly<Record<string, ProcessImage>>): Runtime {
  return (start) => {
    const image = images[imageName(start.image)];
    if (image === undefined) throw new Error(`no program of the workspace stands for the image ${start.image}`);
    const launcher = readLauncher(image.launcher);
    const words = start.command ?? [process.execPath, ...launcher.flags, launcher.file];
    const files = Object.entries(image.files ?? {}).map(([target, source]): Bind => ({
      source,
      target,
      readOnly: true,
    }));
    const script = [...nameOf(start), mountScript([...files, ...start.binds])].join('\n');
    const [file, args] = start.place.commandLine(
      'unshare',
      ['--mount', '--uts', '--propagation', 'private', 'sh', '-c', script, 'sh', ...words, ...start.args],
      '/',
    );
    return {
      file,
      args,
      env: { ...launcher.env, NODE_COMPILE_CACHE, PATH, ...start.env },
      exec: (pid, wanted) => ['nsenter', [`--target=${pid}`, '--net', '--mount', '--uts', '--wdns=/', '--', ...wanted]],
    };
  };
}

const nameOf = ({ hostname }: ContainerStart): readonly string[] =>
  hostname === undefined ? [] : [`echo ${hostname} > /proc/sys/kernel/hostname`];

/** The `semaphore-policy` of `registry.example:5000/team/semaphore-policy:0.1.0@sha256:…`. */
export function imageName(image: string): string {
  const [path = ''] = (image.split('/').at(-1) ?? '').split(/[:@]/, 1);
  return path;
}

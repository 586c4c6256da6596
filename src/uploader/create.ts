import { FileUploader, type FileUploaderOptions } from './file/file-uploader.ts';
import type { Uploader } from './uploader.ts';

export type UploaderOptions = { readonly kind: 'file' } & FileUploaderOptions;

/** Makes an uploader. It touches nothing until it is used. */
export function createUploader(options: UploaderOptions): Uploader {
  return new FileUploader(options);
}

import { BYTES, FIXED64, tagOf } from './protobuf-cursor.ts';

/*
  The control set, in the order of its bytes:

  HeronControlTupleSet => (0x0a ack)*  (0x12 fail)*  (0x1a emit)*
    ack, fail, emit    => length AckTuple
    AckTuple           => root*  ackedtuple  detail?
      root             => 0x0a length RootId                     root-id.ts
      ackedtuple       => 0x11 and 8 bytes, lowest first
      detail           => 0xc2 0x3e length FailDetail            fail-detail.ts
*/

export const ACKS_TAG = tagOf(1, BYTES);
export const FAILS_TAG = tagOf(2, BYTES);
export const EMITS_TAG = tagOf(3, BYTES);

export const ACK_ROOT_TAG = tagOf(1, BYTES);
export const ACKED_TUPLE_TAG = tagOf(2, FIXED64);
/** `ackedtuple` with its tag. */
export const ACKED_TUPLE_BYTES = 1 + 8;
export const DETAIL_TAG = tagOf(1000, BYTES);

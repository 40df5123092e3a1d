package dev.plumbline.traceanalysis;

/**
 * What PyTorch says of a collective on its kernel. Absent under graphs, for coalesced calls and for
 * kernels that are not NCCL's.
 *
 * @param name such as {@code allreduce}; null when absent
 * @param group name and ranks of the process group; empty when absent
 * @param groupSize −1 when absent
 * @param elements elements sent; −1 when absent
 * @param type element type; empty when absent
 * @param sequence number within the group; −1 when absent
 */
record CollectiveArgs(
    String name, String group, long groupSize, long elements, String type, long sequence) {

  static final CollectiveArgs NONE = new CollectiveArgs(null, "", -1, -1, "", -1);
}

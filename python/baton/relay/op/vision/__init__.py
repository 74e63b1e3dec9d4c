"""relay.vision: operators of detection networks."""
from ...expr import Constant, Expr, TupleWrapper, const
from .. import _make as _build
from .._make import call
from . import _make

_GETATTR, __dir__ = _build.fill(globals(), "vision")


def get_valid_counts(data, score_threshold, id_index=0, score_index=1):
    """How many boxes have a score above the threshold (a number or an expression); those first; and their places."""
    threshold = score_threshold if isinstance(score_threshold, Expr) else const(score_threshold, "float32")
    return TupleWrapper(call("vision.get_valid_counts", [data, threshold], score_threshold=threshold, id_index=id_index,
                             score_index=score_index), 3)


def non_max_suppression(data, valid_count, indices, max_output_size=-1, iou_threshold=0.5, force_suppress=False, top_k=-1,
                        coord_start=2, score_index=1, id_index=0, return_indices=True, invalid_to_bottom=False):
    """The boxes of `data` without those that overlap one of a better score by more than `iou_threshold`.

    max_output_size and iou_threshold are numbers or expressions. return_indices: two results, places and their number.
    """
    most = max_output_size if isinstance(max_output_size, Expr) else const(max_output_size, "int32")
    overlap = iou_threshold if isinstance(iou_threshold, Expr) else const(iou_threshold, "float32")
    return call("vision.non_max_suppression", [data, valid_count, indices, most, overlap], True,
                force_suppress=force_suppress, top_k=top_k, coord_start=coord_start, score_index=score_index, id_index=id_index,
                return_indices=return_indices, invalid_to_bottom=invalid_to_bottom)


def all_class_non_max_suppression(boxes, scores, max_output_boxes_per_class=-1, iou_threshold=-1.0, score_threshold=-1.0,
                                  output_format="onnx"):
    """Non-maximum suppression of the same boxes for every class; limits are numbers or expressions.

    output_format: "onnx" (two results) or "tensorflow" (three).
    """
    limits = [each if isinstance(each, Expr) else const(each, kind) for each, kind in
              ((max_output_boxes_per_class, "int32"), (iou_threshold, "float32"), (score_threshold, "float32"))]
    return call("vision.all_class_non_max_suppression", [boxes, scores, *limits], True,
                output_format=output_format)


_build.explain(globals(), "vision.")


def __getattr__(name):
    return _GETATTR(name)


from . import multibox, nms, rcnn, yolo  # noqa: E402 -- they look their names up here

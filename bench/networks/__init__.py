"""The networks that Baton is compared on, each as Relay and, where the text cannot simply be converted, as ONNX.

`NETWORKS[name].build()` gives (module, params): `main` of float32 with batch 1, without a softmax at the end, so that outputs
can be compared; params are numpy arrays of a seeded generator (weights.py).
"""
from . import bert, classifiers, lstm, mobile, quantized, small, testing
from .network import Network

# The bars of one thread: Baton's time over that of the best other engine. None: there is none yet.
NETWORKS = {each.name: each for each in (
    Network("resnet-18", testing.resnet(18), 0.50),
    Network("resnet-18-v1", classifiers.resnet18, 0.50),
    Network("vgg-11", testing.vgg11, 0.38),
    Network("resnet-50", testing.resnet(50), 0.70),
    Network("resnet-50-v1.5", classifiers.resnet50, 0.70),
    Network("mobilenet", testing.mobilenet, None),
    Network("mobilenet-v2", mobile.mobilenet_v2, 0.75),
    Network("efficientnet-b0", mobile.efficientnet_b0, 0.70),
    Network("squeezenet-1.1", testing.squeezenet, 0.72),
    Network("densenet-121", classifiers.densenet121, 0.78),
    Network("inception-v3", testing.inception, 0.78),
    Network("bert-4", bert.encoder(4), 0.88),
    Network("bert-12", bert.encoder(12), 0.88),
    Network("lstm", lstm.lstm, 0.60, lstm.lstm_onnx),
    Network("dcgan", small.dcgan, 0.60),
    Network("mlp", small.mlp, 0.60),
)}

# Networks in int8: another question than the same network in float32, and never part of its figures. Rounding differs between
# engines: a value on the border between two steps falls on either side, and layers carry that on.
INT8 = {each.name: each for each in (
    Network("resnet-50-int8", bar=1.0, peers=("ort",), tolerance=0.1, **quantized.of(classifiers.resnet50)),
)}

"""Networks that nobody chose: their sizes, batches and threads are drawn by a seed.

`drawn(seed, count, threads)` is what a predictor is judged on. The seed is made of the predictor's own file (bars/probe.py),
so that it is not known before the predictor is finished, and another predictor has other networks.
"""
import random
from dataclasses import dataclass

from . import bert, classifiers, lstm, mobile, small
from .network import Network
from .testing import workload

BATCHES, SIZES = (1, 8), (160, 192, 224, 256, 288)


@dataclass(frozen=True)
class Drawn:
    network: Network
    threads: int

    @property
    def name(self):
        return f"{self.network.name}, {self.threads} thread{'s' if self.threads > 1 else ''}"


def classifier(name, module, function="get_net", **options):
    """Of images of any size in SIZES, and any batch."""
    def made(draw):
        batch, size = draw.choice(BATCHES), draw.choice(SIZES)
        build = workload(module, function, batch_size=batch, image_shape=(3, size, size), num_classes=1000, dtype="float32", **options)
        return Network(f"{name}-{size}-b{batch}", build)
    return made


def mobilenet(draw):
    batch, size = draw.choice(BATCHES), draw.choice(SIZES)
    return Network(f"mobilenet-{size}-b{batch}", workload("mobilenet", "mobile_net", data_shape=(batch, 3, size, size)))


def of_any_batch(name, module, **options):
    def made(draw):
        batch = draw.choice(BATCHES)
        return Network(f"{name}-b{batch}", workload(module, batch_size=batch, **options))
    return made


def as_it_is(name, build):
    return lambda draw: Network(name, build)


# One entry per kind of network, each as likely as any other.
KINDS = (
    classifier("resnet-18", "resnet", num_layers=18), classifier("resnet-34", "resnet", num_layers=34),
    classifier("resnet-50", "resnet", num_layers=50), classifier("resnet-101", "resnet", num_layers=101),
    classifier("vgg-11", "vgg", num_layers=11), classifier("vgg-16", "vgg", num_layers=16),
    classifier("squeezenet-1.0", "squeezenet", version="1.0"), classifier("squeezenet-1.1", "squeezenet", version="1.1"),
    mobilenet,
    of_any_batch("inception-v3", "inception_v3", num_classes=1000, image_shape=(3, 299, 299), dtype="float32"),
    of_any_batch("resnet-3d-18", "resnet_3d", num_layers=18, num_classes=400, image_shape=(3, 8, 112, 112)),
    of_any_batch("dqn", "dqn"), of_any_batch("dcgan-64", "dcgan", oshape=(3, 64, 64)),
    of_any_batch("mlp-28", "mlp", num_classes=10, image_shape=(1, 28, 28)),
    as_it_is("resnet-18-v1", classifiers.resnet18), as_it_is("resnet-50-v1.5", classifiers.resnet50),
    as_it_is("densenet-121", classifiers.densenet121), as_it_is("mobilenet-v2", mobile.mobilenet_v2),
    as_it_is("efficientnet-b0", mobile.efficientnet_b0), as_it_is("bert-4", bert.encoder(4)), as_it_is("bert-8", bert.encoder(8)),
    as_it_is("lstm", lstm.lstm), as_it_is("dcgan", small.dcgan), as_it_is("mlp", small.mlp),
)


def drawn(seed, count, threads=(1, 2)):
    """`count` different networks with a number of threads each."""
    draw, chosen = random.Random(seed), {}
    while len(chosen) < count:
        one = Drawn(draw.choice(KINDS)(draw), draw.choice(threads))
        chosen.setdefault(one.name, one)
    return list(chosen.values())

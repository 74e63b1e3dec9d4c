"""Networks of relay.testing, without their softmax."""
import importlib

from baton import IRModule, relay

from . import weights


IMAGE = {"num_classes": 1000, "image_shape": (3, 224, 224), "dtype": "float32"}


def workload(name, function="get_net", **options):
    """A function that builds relay.testing's network `name`."""
    def build():
        main = getattr(importlib.import_module("baton.relay.testing." + name), function)(**options)
        body = main.body
        if isinstance(body, relay.Call) and getattr(body.op, "name", "") == "nn.softmax":
            body = body.args[0]
        module = relay.transform.InferType()(IRModule.from_expr(relay.Function(main.params, body)))
        return module, weights.values_for(module)

    return build


def resnet(layers):
    return workload("resnet", batch_size=1, num_layers=layers, **IMAGE)


vgg11 = workload("vgg", batch_size=1, num_layers=11, **IMAGE)
mobilenet = workload("mobilenet", "mobile_net")
squeezenet = workload("squeezenet", batch_size=1, version="1.1", **IMAGE)
inception = workload("inception_v3", batch_size=1, **{**IMAGE, "image_shape": (3, 299, 299)})

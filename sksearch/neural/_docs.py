"""Texts shared by the docstrings of all families."""

COMMON = """
max_epochs : int, default={max_epochs}
    Count of passes over the training images in each call of ``fit`` or ``partial_fit``.
batch_size : int, default={batch_size}
    Largest count of images in a step. Batches of an epoch differ by one image at most.
learning_rate : float, default={learning_rate}
    Largest step size of gradient descent.
momentum : float, default={momentum}
    Nesterov momentum, from 0 to less than 1.
weight_decay : float, default={weight_decay}
    The weights times this factor are added to their gradients.
schedule : {"constant", "cosine", "one_cycle", "auto"}, default="{schedule}"
    How the learning rate changes from step to step. "cosine" falls to 0 at the horizon.
    "one_cycle" rises until 0.3 of the horizon, and then falls to 0. "auto" is "cosine" where the
    horizon is known, else "constant".
horizon : int or None, default=None
    Count of epochs, over all calls, at which the learning rate is 0. None: in ``fit`` it is
    `max_epochs`, in ``partial_fit`` it is not known. In a search by epochs set it to
    ``max_resources``.
early_stopping : bool, default=False
    Whether ``fit`` holds out a part of the images, stops when the loss on them has not
    improved for `patience` epochs, and keeps the weights of the best epoch.
validation_fraction : float, default=0.1
    Share of the images that `early_stopping` holds out.
patience : int, default=2
    Count of epochs without improvement after which `early_stopping` stops.
class_weight : dict, "balanced" or None, default=None
    Factor of the loss for each class. "balanced": inversely proportional to its count.
precision : {"auto", "fp32", "bf16", "fp16"}, default="auto"
    Precision of matrix products and convolutions. "auto" is "bf16" on a GPU that has it, else
    "fp32".
device : str, default="auto"
    Where to compute, as in PyTorch: "cpu", "cuda", "cuda:1". "auto" is a GPU where there is one,
    the first kind of "cuda", "xpu" and "mps".
n_jobs : int or None, default=None
    Count of threads on the CPU; None is 1, -1 is all. The last bits of results depend on it.
compile : bool, default=False
    Whether to use ``torch.compile``. It takes a minute, so it is worth it for long trainings.
image_shape : tuple of int or None, default=None
    Shape of an image in flat rows: (height, width), (height, width, channels) or (channels,
    height, width). None: images are square, with one channel.
random_state : int, RandomState instance or None, default=None
    Seed of weights, order of the images and all that is random in training. PyTorch's global
    generator is neither used nor changed.
"""

ATTRIBUTES = """
classes_ : ndarray of shape (n_classes,)
    Labels of the classes.
n_epochs_ : int
    Count of epochs so far.
net_ : skorch.NeuralNetClassifier
    The net, with the module in ``module_`` and loss and seconds of each epoch in ``history``. It
    is on the CPU between calls.
image_shape_ : tuple of int
    Shape of an image, with its channels.
horizon_ : int or None
    Count of epochs at which the learning rate is 0.
n_features_in_ : int
    Size of the second axis of X.
feature_names_in_ : ndarray of shape (`n_features_in_`,)
    Names of the columns, if X is a DataFrame.
"""

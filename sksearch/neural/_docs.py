"""Texts shared by the docstrings of all families."""

COMMON = (
    "\nmax_epochs : int, default={max_epochs}\n    Number of passes over the training images in "
    "each call of ``fit`` or ``partial_fit``.\nbatch_size : int, default={batch_size}\n    "
    "Maximum number of images in a step. Batches of an epoch differ by at most one image.\n"
    "learning_rate : float, default={learning_rate}\n    Largest step size of gradient descent.\n"
    "momentum : float, default={momentum}\n    Nesterov momentum, from 0 to less than 1.\n"
    "weight_decay : float, default={weight_decay}\n    The weights times this factor are added to "
    'their gradients.\nschedule : {"constant", "cosine", "one_cycle", "auto"}, '
    'default="{schedule}"\n    How the learning rate changes from step to step. "cosine" falls to '
    '0 at the horizon.\n    "one_cycle" rises until 0.3 of the horizon, and then falls to 0. '
    '"auto" is "cosine" if the\n    horizon is known, otherwise "constant".\nhorizon : int or '
    "None, default=None\n    Number of epochs over all calls at which the learning rate reaches "
    "0. If None, it is\n    `max_epochs` in ``fit``, and unknown in ``partial_fit``. In a search "
    "by epochs set it to\n    ``max_resources``.\nearly_stopping : bool, default=False\n    If "
    "True, ``fit`` holds out a part of the images, stops when their loss has not improved for\n   "
    " `patience` epochs, and keeps the weights of the best epoch.\nvalidation_fraction : float, "
    "default=0.1\n    Share of the images held out by `early_stopping`.\npatience : int, "
    "default=2\n    Number of epochs without improvement after which `early_stopping` stops.\n"
    'class_weight : dict, "balanced" or None, default=None\n    Weight of each class in the loss. '
    '"balanced" is inversely proportional to its frequency.\nprecision : {"auto", "fp32", "bf16", '
    '"fp16"}, default="auto"\n    Precision of matrix products and convolutions. "auto" is "bf16" '
    'on a GPU that supports it,\n    otherwise "fp32".\ndevice : str, default="auto"\n    PyTorch '
    'device, such as "cpu", "cuda" or "cuda:1". "auto" is the first available of "cuda",\n    '
    '"xpu", "mps" and "cpu".\nn_jobs : int or None, default=None\n    Number of threads on the '
    "CPU; None is 1, -1 uses all cores. Rounding errors depend on it.\ncompile : bool, "
    "default=False\n    If True, use ``torch.compile``. It takes a minute, which pays off in long "
    "training.\nimage_shape : tuple of int or None, default=None\n    Shape of an image in flat "
    "rows: (height, width), (height, width, channels) or (channels,\n    height, width). If None, "
    "images are square, with one channel.\nrandom_state : int, RandomState instance or None, "
    "default=None\n    Seed of the initial weights, the order of the images and all other "
    "randomness in training.\n    PyTorch's global generator is neither used nor changed.\n"
)

ATTRIBUTES = (
    "\nclasses_ : ndarray of shape (n_classes,)\n    Labels of the classes.\nn_epochs_ : int\n    "
    "Number of epochs so far.\nnet_ : skorch.NeuralNetClassifier\n    The net, with the module in "
    "``module_``, and the loss and seconds of each epoch in\n    ``history``. It is on the CPU "
    "between calls.\nimage_shape_ : tuple of int\n    Shape of an image, with its channels.\n"
    "horizon_ : int or None\n    Number of epochs at which the learning rate reaches 0.\n"
    "n_features_in_ : int\n    Size of the second axis of X.\nfeature_names_in_ : ndarray of "
    "shape (`n_features_in_`,)\n    Names of the columns, if X is a DataFrame.\n"
)

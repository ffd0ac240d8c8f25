"""A tiny model that reads texts, with random weights, in a folder as transformers keeps models."""

import string

import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast
from transformers.utils import logging

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
LETTERS = [*string.ascii_lowercase, *(f"##{letter}" for letter in string.ascii_lowercase)]
SMALL = {"num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}


def save_reader(folder, width=32, seed=0):
    """Its tokens are letters; a text has one more before it and one behind it."""
    logging.disable_progress_bar()
    torch.manual_seed(seed)
    words = {word: place for place, word in enumerate([*SPECIAL, *LETTERS])}
    tokenizer = Tokenizer(models.WordPiece(words, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    ends = [("[CLS]", 2), ("[SEP]", 3)]
    tokenizer.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", None, ends)
    named = {"pad_token": "[PAD]", "unk_token": "[UNK]", "model_max_length": 256}
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, **named).save_pretrained(folder)
    config = BertConfig(
        hidden_size=width, vocab_size=len(words), initializer_range=0.2, pad_token_id=0, **SMALL
    )
    BertModel(config, add_pooling_layer=False).save_pretrained(folder)
    return str(folder)

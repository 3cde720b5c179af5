"""A recurrent language model with tied weights, states passed in and out, and the loss of the next word."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class LanguageModel(nn.Module):
    def __init__(self, words=40, width=16, layers=2):
        super().__init__()
        self.encoder = nn.Embedding(words, width)
        self.rnn = nn.LSTM(width, width, layers, dropout=0.2)
        self.decoder = nn.Linear(width, words)
        self.decoder.weight = self.encoder.weight
        self.drop = nn.Dropout(0.2)
        nn.init.uniform_(self.encoder.weight, -0.1, 0.1)

    def forward(self, tokens, targets, hidden):
        x, hidden = self.rnn(self.drop(self.encoder(tokens)), hidden)
        logits = self.decoder(self.drop(x))
        return F.nll_loss(F.log_softmax(logits.flatten(0, 1), dim=1), targets.view(-1)), hidden

    @staticmethod
    def example_inputs():
        state = (torch.zeros(2, 3, 16), torch.zeros(2, 3, 16))
        return torch.randint(0, 40, (7, 3)), torch.randint(0, 40, (7, 3)), state

"""Modules that repeat themselves, for tools/check_import.py: blocks that become defs, loops that become recurrences."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn as nn
import torch.nn.functional as F

R = torch.randn


class DenseBlock(nn.Module):
    def __init__(self, count: int, channels: int, growth: int) -> None:
        super().__init__()
        widths = [channels + i * growth for i in range(count)]
        self.layers = nn.ModuleList(
            nn.Sequential(nn.BatchNorm2d(w), nn.ReLU(), nn.Conv2d(w, growth, 3, padding=1, bias=False)) for w in widths
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        features = [x]
        for layer in self.layers:
            features.append(layer(x))
            x = torch.cat(features, 1)
        return x


class DenseNet(nn.Module):
    def __init__(self, counts: tuple, channels: int, growth: int) -> None:
        super().__init__()
        self.blocks, self.transitions = nn.ModuleList(), nn.ModuleList()
        for count in counts:
            self.blocks.append(DenseBlock(count, channels, growth))
            channels += count * growth
            self.transitions.append(
                nn.Sequential(nn.BatchNorm2d(channels), nn.Conv2d(channels, channels // 2, 1), nn.AvgPool2d(2))
            )
            channels //= 2
        self.fc = nn.Linear(channels, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for block, transition in zip(self.blocks, self.transitions):
            x = transition(block(x))
        return self.fc(x.mean((2, 3)))


class Bottleneck(nn.Module):
    def __init__(self, channels: int, width: int, stride: int) -> None:
        super().__init__()
        self.narrow, self.bn1 = nn.Conv2d(channels, width, 1, bias=False), nn.BatchNorm2d(width)
        self.wide, self.bn2 = nn.Conv2d(width, 4 * width, 3, stride, 1, bias=False), nn.BatchNorm2d(4 * width)
        self.skip = None
        if channels != 4 * width or stride != 1:
            self.skip = nn.Sequential(nn.Conv2d(channels, 4 * width, 1, stride, bias=False), nn.BatchNorm2d(4 * width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.bn2(self.wide(F.relu(self.bn1(self.narrow(x)))))
        return F.relu(y + (x if self.skip is None else self.skip(x)))


def residual_net() -> nn.Sequential:
    layers, channels = [], 3
    for width, count in ((2, 3), (3, 3), (4, 2)):
        for i in range(count):
            layers.append(Bottleneck(channels, width, 2 if i == 0 and channels != 3 else 1))
            channels = 4 * width
    return nn.Sequential(*layers)


class ResNetBlock(nn.Module):
    def __init__(self, channels: int, width: int, stride: int) -> None:
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(channels, width, 1, bias=False), nn.BatchNorm2d(width)
        self.conv2, self.bn2 = nn.Conv2d(width, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width)
        self.conv3, self.bn3 = nn.Conv2d(width, 4 * width, 1, bias=False), nn.BatchNorm2d(4 * width)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = None
        if channels != 4 * width or stride != 1:
            self.downsample = nn.Sequential(
                nn.Conv2d(channels, 4 * width, 1, stride, bias=False), nn.BatchNorm2d(4 * width)
            )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.relu(self.bn1(self.conv1(x)))
        y = self.bn3(self.conv3(self.relu(self.bn2(self.conv2(y)))))
        return self.relu(y + (x if self.downsample is None else self.downsample(x)))


class ResNet(nn.Module):
    def __init__(self, counts: tuple, first: int, classes: int) -> None:
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(3, first, 7, 2, 3, bias=False), nn.BatchNorm2d(first)
        self.relu, self.maxpool = nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)
        channels = first
        for i, count in enumerate(counts):
            layer = nn.Sequential()
            for j in range(count):
                layer.append(ResNetBlock(channels, first * 2**i, 2 if i > 0 and j == 0 else 1))
                channels = 4 * first * 2**i
            setattr(self, f"layer{i + 1}", layer)
        self.fc = nn.Linear(channels, classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(F.adaptive_avg_pool2d(x, 1).flatten(1))


class TransformerBlock(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        b, t, c = x.shape
        q, k, v = (
            p.view(b, t, self.heads, c // self.heads).transpose(1, 2) for p in self.qkv(self.norm1(x)).split(c, 2)
        )
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, t, c)
        x = x + self.out(y)
        return x + self.mlp(self.norm2(x))


class CalledTwice(nn.Module):
    """Layers that are called twice, two of which share a weight."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Sequential(nn.Linear(6, 6), nn.LayerNorm(6), nn.GELU()) for _ in range(3))
        self.layers[2][0].weight = self.layers[0][0].weight

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in (*self.layers, *self.layers):
            x = layer(x)
        return x


class UnrolledLstm(nn.Module):
    """Starts from zeros, so that the first step is another; returns all steps and the last state."""

    def __init__(self, inputs: int = 3, units: int = 4) -> None:
        super().__init__()
        self.cell, self.fc = nn.LSTMCell(inputs, units), nn.Linear(units, 2)

    def forward(self, x: torch.Tensor) -> tuple:
        h, c = x.new_zeros(x.shape[0], self.cell.hidden_size), x.new_zeros(x.shape[0], self.cell.hidden_size)
        steps = []
        for t in range(x.shape[1]):
            h, c = self.cell(x[:, t], (h, c))
            steps.append(h)
        return self.fc(torch.stack(steps, 1)), c


class TwoCells(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.low, self.high = nn.GRUCell(3, 4), nn.RNNCell(4, 5)

    def forward(self, x: torch.Tensor, h: torch.Tensor, g: torch.Tensor) -> tuple:
        for t in range(x.shape[0]):
            h = self.low(x[t], h)
            g = self.high(h, g)
        return h, g


class HandWritten(nn.Module):
    """An Elman network over concatenated input and state."""

    def __init__(self) -> None:
        super().__init__()
        self.step, self.out = nn.Linear(7, 4), nn.Linear(4, 2)

    def forward(self, x: torch.Tensor, h: torch.Tensor) -> torch.Tensor:
        for t in range(x.shape[0]):
            h = torch.tanh(self.step(torch.cat([x[t], h], 1)))
        return self.out(h)


class Backwards(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.w, self.u = nn.Linear(3, 4), nn.Linear(4, 4, bias=False)

    def forward(self, x: torch.Tensor, h: torch.Tensor) -> tuple:
        steps: list = [None] * x.shape[1]
        for t in reversed(range(x.shape[1])):
            h = torch.sigmoid(self.w(x[:, t]) + self.u(h))
            steps[t] = h
        return torch.stack(steps, 1), steps[2], h


def crossing(x: torch.Tensor, h: torch.Tensor) -> tuple:
    """Two states that read each other, at every step and every second one."""
    a, b, steps = h, h * 2, []
    for t in range(8):
        a, b = b + x[:, 2 * t + 1], a * 0.5 + x[:, t]
        steps.append(a * b)
    return torch.cat(steps, 1), a


def powers(x: torch.Tensor) -> torch.Tensor:
    for _ in range(9):
        x = torch.sin(x @ x.T @ x) / 3
    return x


def two_back(x: torch.Tensor, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Reads two steps back, which stays unrolled."""
    for t in range(7):
        a, b = b, torch.tanh(a + b * x[t])
    return b


def repeated_cases() -> dict[str, tuple[Any, list]]:
    return {
        "dense_net": (DenseNet((2, 3, 4), 4, 3), [R(2, 4, 9, 11)]),
        "residual_net": (residual_net(), [R(2, 3, 7, 10)]),
        "resnet": (ResNet((2, 2, 4, 2), 2, 5), [R(2, 3, 33, 40)]),
        "transformer": (nn.Sequential(*(TransformerBlock(12, 3) for _ in range(4))), [R(2, 5, 12)]),
        "encoder_layers": (
            nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True), 3),
            [R(2, 5, 8)],
        ),
        "called_twice": (CalledTwice(), [R(4, 6)]),
        "lstm_cell": (nn.LSTMCell(3, 4), [R(2, 3), (R(2, 4), R(2, 4))]),
        "gru_cell": (nn.GRUCell(3, 4, bias=False), [R(2, 3), R(2, 4)]),
        "rnn_cell": (nn.RNNCell(3, 4, nonlinearity="relu"), [R(2, 3), R(2, 4)]),
        "unrolled_lstm": (UnrolledLstm(), [R(2, 9, 3)]),
        "unrolled_lstm_512": (UnrolledLstm(), [R(2, 512, 3)]),
        "unrolled_cells": (TwoCells(), [R(6, 2, 3), R(2, 4), R(2, 5)]),
        "unrolled_by_hand": (HandWritten(), [R(7, 2, 3), R(2, 4)]),
        "unrolled_backwards": (Backwards(), [R(2, 7, 3), R(2, 4)]),
        "unrolled_crossing": (crossing, [R(2, 17, 3), R(2, 3)]),
        "unrolled_powers": (powers, [R(4, 4)]),
        "unrolled_two_back": (two_back, [R(7, 3), R(3), R(3)]),
    }


def long_cases() -> dict[str, tuple[Any, list]]:
    """Whole networks, whose folded programs have to stay short."""
    return {
        "densenet201": (DenseNet((6, 12, 48, 32), 64, 32), [R(2, 64, 56, 56)]),
        "resnet101": (ResNet((3, 4, 23, 3), 64, 1000), [R(2, 3, 64, 64)]),
        "lstm_512": (nn.LSTM(128, 256, 6, batch_first=True), [R(2, 512, 128)]),
        "unrolled_lstm_512": (UnrolledLstm(128, 256), [R(2, 512, 128)]),
    }

"""A batch of Kalman filters with scalar measurements: predict, gate outliers, update in Joseph form."""

import torch
import torch.nn as nn


class KalmanFilter(nn.Module):
    def __init__(self, dt=0.1, noise=0.05):
        super().__init__()
        self.register_buffer("F", torch.tensor([[1.0, dt, 0.5 * dt * dt], [0.0, 1.0, dt], [0.0, 0.0, 1.0]]))
        self.register_buffer("H", torch.tensor([1.0, 0.0, 0.0]))
        self.log_q = nn.Parameter(torch.tensor([-4.0, -3.0, -2.0]))
        self.noise = noise

    def forward(self, mean, covariance, measurements):
        eye = torch.eye(3, device=mean.device, dtype=mean.dtype)
        loglik = torch.zeros_like(mean[:, 0])
        for z in measurements.unbind(1):
            mean = mean @ self.F.T
            covariance = self.F @ covariance @ self.F.T + torch.diag(self.log_q.exp())
            innovation = z - mean @ self.H
            ph = covariance @ self.H
            s = ph @ self.H + self.noise
            gain = ph / s[:, None]
            ok = (innovation.square() / s) < 9.0
            gain = torch.where(ok[:, None], gain, torch.zeros_like(gain))
            mean = mean + gain * innovation[:, None]
            keep = eye - gain[:, :, None] * self.H
            covariance = keep @ covariance @ keep.mT + self.noise * gain[:, :, None] * gain[:, None, :]
            loglik = loglik - 0.5 * (innovation.square() / s + s.log())
        return mean, covariance, loglik

    @staticmethod
    def example_inputs():
        root = torch.randn(4, 3, 3) * 0.3
        return torch.randn(4, 3), root @ root.mT + torch.eye(3), torch.randn(4, 5)

"""Convolutions, pooling, interpolation."""

import torch
import torch.nn.functional as F

from . import case, rand

IMAGE = rand(2, 3, 11, 13)
CHANNELS = rand(2, 8, 9, 10)


@case(x=rand(2, 3, 11, 12, 13))
def max_pool3d_with_dilation(x):
    """
    input x : f32[2,3,11,12,13]
    output y : f32[2,3,4,4,5]
    y[n,c,o,p,q] = max[i<3,j<3,k<3](x[n,c,2*o+3*i-1,2*p+3*j-1,2*q+3*k-1 else -inf])
    """
    return F.max_pool3d(x, 3, 2, 1, 3)


@case(x=IMAGE)
def avg_pool2d(x):
    """
    input x : f32[2,3,11,13]
    output y : f32[2,3,6,7]
    y[n,c,p,q] = sum[i<3,j<3](x[n,c,2*p+i-1,2*q+j-1 else 0])/9
    """
    return F.avg_pool2d(x, 3, 2, 1)


@case(x=IMAGE)
def avg_pool2d_that_counts(x):
    """
    input x : f32[2,3,11,13]
    output y : f32[2,3,6,7]
    y[n,c,p,q] = sum[i<3,j<3](x[n,c,2*p+i-1,2*q+j-1 else 0])
      / sum[i<3,j<3 where 0 <= 2*p+i-1 and 2*p+i-1 < 11 and 0 <= 2*q+j-1 and 2*q+j-1 < 13](1)
    """
    return F.avg_pool2d(x, 3, 2, 1, count_include_pad=False)


@case(x=IMAGE)
def avg_pool2d_as_a_mean_of_what_exists(x):
    """
    input x : f32[2,3,11,13]
    output y : f32[2,3,6,7]
    y[n,c,p,q] = mean[i<3,j<3 where 0 <= 2*p+i-1 < 11 and 0 <= 2*q+j-1 < 13](x[n,c,2*p+i-1,2*q+j-1])
    """
    return F.avg_pool2d(x, 3, 2, 1, count_include_pad=False)


@case(x=CHANNELS, w=rand(12, 2, 3, 3), b=rand(12))
def conv2d_in_groups(x, w, b):
    """
    dim G = 4, K = 12, C = 8
    param w : f32[K,C//G,3,3]
    param b : f32[K]
    input x : f32[2,C,9,10]
    output y : f32[2,K,6,8]
    y[n,K//G*g+k,p,q] = sum[c,r,s](x[n,C//G*g+c,2*p+r-2,q+2*s-1 else 0] * w[K//G*g+k,c,r,s])
      + b[K//G*g+k] for g < G, k < K//G
    """
    return F.conv2d(x, w, b, stride=(2, 1), padding=(2, 1), dilation=(1, 2), groups=4)


@case(x=CHANNELS, w=rand(8, 1, 3, 3))
def depthwise_conv2d(x, w):
    """
    param w : f32[8,1,3,3]
    input x : f32[2,8,9,10]
    output y : f32[2,8,9,10]
    y[n,c,p,q] = sum[r,s](x[n,c,p+r-1,q+s-1 else 0] * w[c,0,r,s])
    """
    return F.conv2d(x, w, groups=8, padding=1)


@case(x=rand(2, 4, 3, 4, 3), w=rand(4, 6, 3, 2, 3), b=rand(6))
def conv_transpose3d(x, w, b):
    """
    param w : f32[4,6,3,2,3]
    param b : f32[6]
    input x : f32[2,4,3,4,3]
    output y : f32[2,6,6,7,6]
    y[n,k,u,v,t] = b[k] + sum[c,d,h,e,r,s,q where u == 2*d+r-1 and v == 2*h+s-1 and t == 2*e+q-1](
      x[n,c,d,h,e] * w[c,k,r,s,q])
    """
    return F.conv_transpose3d(x, w, b, stride=2, padding=1, output_padding=1)


@case(x=rand(2, 4, 3, 4, 3), w=rand(4, 3, 3, 2, 3), b=rand(6))
def conv_transpose3d_in_groups_with_dilation(x, w, b):
    """
    dim G = 2, C = 4, K = 6
    param w : f32[C,K//G,3,2,3]
    param b : f32[K]
    input x : f32[2,C,3,4,3]
    output y : f32[2,K,8,9,9]
    y[n,K//G*g+k,u,v,t] = b[K//G*g+k]
      + sum[c<C//G,d,h,e,r,s,q where u == 2*d+2*r-1 and v == 3*h+s-2 and t == e+3*q](
      x[n,C//G*g+c,d,h,e] * w[C//G*g+c,k,r,s,q]) for g < G
    """
    return F.conv_transpose3d(
        x, w, b, stride=(2, 3, 1), padding=(1, 2, 0), output_padding=(1, 2, 0), groups=2, dilation=(2, 1, 3)
    )


@case(x=rand(2, 3, 4), w=rand(3, 2, 3))
def conv_transpose1d_by_parity(x, w):
    """
    param w : f32[3,2,3]
    input x : f32[2,3,4]
    output y : f32[2,2,8]
    y[n,k,2*p] = sum[c](x[n,c,p] * w[c,k,1])
    y[n,k,2*p+1] = sum[c](x[n,c,p]*w[c,k,2] + x[n,c,p+1 else 0]*w[c,k,0]) for p < 4
    """
    return F.conv_transpose1d(x, w, stride=2, padding=1, output_padding=1)


@case(x=rand(2, 4, 5, 5), g=rand(4), b=rand(4), w=rand(3, 4, 3, 3))
def layer_of_a_dense_block(x, g, b, w):
    """
    param g : f32[4]
    param b : f32[4]
    param w : f32[3,4,3,3]
    input x : f32[2,4,5,5]
    output y : f32[2,7,5,5]
    mu[c] = mean[n,h,q](x[n,c,h,q])
    v[c] = var[n,h,q](x[n,c,h,q])
    z[n,c,h,q] = relu((x[n,c,h,q] - mu[c]) * rsqrt(v[c] + 1e-5) * g[c] + b[c])
    y[n,c,h,q] = x[n,c,h,q] for c < 4
    y[n,4+k,h,q] = sum[c,r,s](z[n,c,h+r-1,q+s-1 else 0] * w[k,c,r,s])
    """
    return torch.cat([x, F.conv2d(F.relu(F.batch_norm(x, None, None, g, b, True)), w, padding=1)], 1)


@case(x=rand(2, 7))
def adaptive_avg_pool1d_of_uneven_bins(x):
    """
    input x : f32[2,7]
    output y : f32[2,3]
    y[n,o] = mean[i where i >= (o*7)//3 and i < ((o+1)*7+2)//3](x[n,i])
    """
    return F.adaptive_avg_pool1d(x[:, None], 3)[:, 0]


@case(x=rand(2, 7))
def nearest_upsampling(x):
    """
    input x : f32[2,7]
    output y : f32[2,14]
    y[n,o] = x[n,o//2]
    """
    return F.interpolate(x[:, None], scale_factor=2)[:, 0]


@case(x=rand(2, 4, 4, 4), w=rand(8, 4, 1), b=rand(8))
def product_in_shifted_windows(x, w, b):
    """
    dim B = 2, H = 4, W = 4, C = 4, P = 2, NH = 2, D = C//NH, O = 1
    param w : f32[NH*P*P,P*P,1]
    param b : f32[NH*P*P]
    input x : f32[B,H,W,C]
    output y : f32[B,H,W,C]
    tensor z : f32[B,H+P,W+P,C]
    z[n,P*i+u,P*j+v,D*h+d] = b[P*P*h+P*u+v]
      + sum[r<P,s<P](w[P*P*h+P*u+v,P*r+s,0] * x[n,P*i+r-O,P*j+s-O,D*h+d else 0])
      for n < B, i < H//P+1, j < W//P+1, u < P, v < P, h < NH, d < D
    y[n,i,j,c] = z[n,i+O,j+O,c]
    """
    padded = F.pad(x, [0, 0, 1, 1, 1, 1])
    rows = (
        padded.view(2, 3, 2, 3, 2, 4).permute(0, 1, 3, 2, 4, 5).reshape(-1, 4, 2, 2).transpose(1, 2).reshape(-1, 8, 2)
    )
    mixed = F.conv1d(rows, w, b, groups=2).view(-1, 2, 4, 2).transpose(1, 2).reshape(2, 3, 3, 2, 2, 4)
    return mixed.permute(0, 1, 3, 2, 4, 5).reshape(2, 6, 6, 4)[:, 1:-1, 1:-1]

"""Sums of products."""

import torch
import torch.nn.functional as F

from . import case, rand


@case(a=rand(5, 7), b=rand(7, 4))
def matmul(a, b):
    """
    input a : f32[5,7]
    input b : f32[7,4]
    output y : f32[5,4]
    y[m,n] = sum[k](a[m,k] * b[k,n])
    """
    return a @ b


@case(a=rand(7, 5), b=rand(4, 7))
def matmul_of_both_transposed(a, b):
    """
    input a : f32[7,5]
    input b : f32[4,7]
    output y : f32[5,4]
    y[m,n] = sum[k](a[k,m] * b[n,k])
    """
    return a.T @ b.T


@case(a=rand(2, 3, 4, 5), b=rand(5, 6))
def matmul_of_four_dims(a, b):
    """
    input a : f32[2,3,4,5]
    input b : f32[5,6]
    output y : f32[2,3,4,6]
    y[n,i,j,k] = sum[l](a[n,i,j,l] * b[l,k])
    """
    return torch.einsum("nijl,lk->nijk", a, b)


@case(a=rand(6, 6), b=rand(6, 6))
def lower_triangle_of_a_product(a, b):
    """
    input a : f32[6,6]
    input b : f32[6,6]
    output y : f32[6,6]
    y[m,n] = select(n <= m, sum[k](a[m,k] * b[k,n]), 0)
    """
    return torch.tril(a @ b)


@case(a=rand(6, 6), b=rand(6, 6))
def product_of_lower_triangles(a, b):
    """
    input a : f32[6,6]
    input b : f32[6,6]
    output y : f32[6,6]
    y[m,n] = sum[k where n <= k and k <= m](a[m,k] * b[k,n])
    """
    return torch.tril(a) @ torch.tril(b)


@case(x=rand(5, 9), w=rand(4, 9), b=rand(4))
def linear_and_gelu(x, w, b):
    """
    param w : f32[4,9]
    param b : f32[4]
    input x : f32[5,9]
    output y : f32[5,4]
    kernel up by gemm() {
      y[m,n] = gelu(sum[k](x[m,k] * w[n,k]) + b[n])
    }
    """
    return F.gelu(F.linear(x, w, b))


@case(x=rand(5, 9), w=rand(4, 9), b=rand(4))
def row_sum_of_a_linear_layer(x, w, b):
    """
    param w : f32[4,9]
    param b : f32[4]
    input x : f32[5,9]
    output y : f32[5,1]
    s[m] = sum[n](sum[k](x[m,k] * w[n,k]) + b[n])
    y[m,0] = s[m]
    """
    return F.linear(x, w, b).sum(1, keepdim=True)


@case(a=rand(4, 8), b=rand(5, 8), sa=rand(4, 2), sb=rand(5, 2))
def product_with_scales_of_blocks(a, b, sa, sb):
    """
    input a : e4m3[4,8]
    input b : e4m3[5,8]
    input sa : f32[4,2]
    input sb : f32[5,2]
    output y : bf16[4,5]
    y[m,n] = sum[k](a[m,k] * sa[m,k//4] * b[n,k] * sb[n,k//4])
    """
    return (a * sa.repeat_interleave(4, 1)) @ (b * sb.repeat_interleave(4, 1)).T


@case(x=rand(2, 5, 4), a=rand(2, 5, 3).softmax(-1), c=rand(4, 3))
def vector_of_locally_aggregated_descriptors(x, a, c):
    """
    param c : f32[4,3]
    input x : f32[2,5,4]
    input a : f32[2,5,3]
    output y : f32[2,12]
    v[b,d,k] = sum[n](a[b,n,k] * x[b,n,d]) - sum[n](a[b,n,k]) * c[d,k]
    u[b,d,k] = v[b,d,k] / max(sqrt(sum[d](v[b,d,k]**2)), 1e-12)
    y[b,3*d+k] = u[b,d,k] / max(sqrt(sum[d,k](u[b,d,k]**2)), 1e-12)
    """
    v = torch.einsum("bnk,bnd->bdk", a, x) - a.sum(1)[:, None, :] * c
    return F.normalize(F.normalize(v, dim=1).reshape(2, -1), dim=1)

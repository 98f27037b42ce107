module @IrToHlo.254 attributes {mhlo.cross_program_prefetches = [], mhlo.input_output_alias = [], mhlo.is_dynamic = false, mhlo.use_auto_spmd_partitioning = false} {
  func.func @main(%arg0: tensor<16xi64>, %arg1: tensor<10xf32>, %arg2: tensor<10x48xf32>, %arg3: tensor<48xf32>, %arg4: tensor<48x24x3x3xf32>, %arg5: tensor<24xf32>, %arg6: tensor<24x1x3x3xf32>, %arg7: tensor<24xf32>, %arg8: tensor<24x3x3x3xf32>, %arg9: tensor<16x3x32x32xf32>, %arg10: tensor<f32>, %arg11: tensor<f32>) -> (tensor<f32>, tensor<24x3x3x3xf32>, tensor<24xf32>, tensor<24x1x3x3xf32>, tensor<24xf32>, tensor<48x24x3x3xf32>, tensor<48xf32>, tensor<10x48xf32>, tensor<10xf32>) {
    %cst = stablehlo.constant dense<0.00826446246> : tensor<16x48xf32>
    %c = stablehlo.constant dense<-100> : tensor<16xi64>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<16x10xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<16x10xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<16x48x11x11xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<16x24x15x15xf32>
    %cst_4 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %cst_5 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.convolution(%arg9, %arg8) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [2, 2], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<16x3x32x32xf32>, tensor<24x3x3x3xf32>) -> tensor<16x24x15x15xf32>
    %1 = stablehlo.broadcast_in_dim %arg7, dims = [1] : (tensor<24xf32>) -> tensor<16x24x15x15xf32>
    %2 = stablehlo.add %0, %1 : tensor<16x24x15x15xf32>
    %3 = stablehlo.maximum %2, %cst_3 : tensor<16x24x15x15xf32>
    %4 = stablehlo.compare  GT, %3, %cst_3 : (tensor<16x24x15x15xf32>, tensor<16x24x15x15xf32>) -> tensor<16x24x15x15xi1>
    %5 = stablehlo.convolution(%3, %arg6) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 24 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<16x24x15x15xf32>, tensor<24x1x3x3xf32>) -> tensor<16x24x13x13xf32>
    %6 = stablehlo.broadcast_in_dim %arg5, dims = [1] : (tensor<24xf32>) -> tensor<16x24x13x13xf32>
    %7 = stablehlo.add %5, %6 : tensor<16x24x13x13xf32>
    %8 = stablehlo.convolution(%7, %arg4) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<16x24x13x13xf32>, tensor<48x24x3x3xf32>) -> tensor<16x48x11x11xf32>
    %9 = stablehlo.broadcast_in_dim %arg3, dims = [1] : (tensor<48xf32>) -> tensor<16x48x11x11xf32>
    %10 = stablehlo.add %8, %9 : tensor<16x48x11x11xf32>
    %11 = stablehlo.maximum %10, %cst_2 : tensor<16x48x11x11xf32>
    %12 = stablehlo.compare  GT, %11, %cst_2 : (tensor<16x48x11x11xf32>, tensor<16x48x11x11xf32>) -> tensor<16x48x11x11xi1>
    %13 = stablehlo.broadcast_in_dim %arg0, dims = [0] : (tensor<16xi64>) -> tensor<16x10xi64>
    %14 = stablehlo.iota dim = 0 : tensor<10xi64>
    %15 = stablehlo.broadcast_in_dim %14, dims = [1] : (tensor<10xi64>) -> tensor<16x10xi64>
    %16 = stablehlo.compare  EQ, %13, %15 : (tensor<16x10xi64>, tensor<16x10xi64>) -> tensor<16x10xi1>
    %17 = stablehlo.select %16, %cst_1, %cst_0 : tensor<16x10xi1>, tensor<16x10xf32>
    %18 = stablehlo.negate %17 : tensor<16x10xf32>
    %19 = stablehlo.compare  NE, %arg0, %c : (tensor<16xi64>, tensor<16xi64>) -> tensor<16xi1>
    %20 = stablehlo.broadcast_in_dim %19, dims = [0] : (tensor<16xi1>) -> tensor<16x10xi1>
    %21 = stablehlo.select %20, %cst_1, %cst_0 : tensor<16x10xi1>, tensor<16x10xf32>
    %22 = stablehlo.multiply %21, %17 : tensor<16x10xf32>
    %23 = stablehlo.multiply %18, %22 : tensor<16x10xf32>
    %24 = stablehlo.reduce(%22 init: %cst_6) applies stablehlo.add across dimensions = [0, 1] : (tensor<16x10xf32>, tensor<f32>) -> tensor<f32>
    %25 = stablehlo.compare  NE, %24, %cst_6 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %26 = stablehlo.select %25, %24, %cst_5 : tensor<i1>, tensor<f32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [] : (tensor<f32>) -> tensor<16x10xf32>
    %28 = stablehlo.divide %23, %27 : tensor<16x10xf32>
    %29 = stablehlo.reduce(%11 init: %cst_6) applies stablehlo.add across dimensions = [3, 2] : (tensor<16x48x11x11xf32>, tensor<f32>) -> tensor<16x48xf32>
    %30 = stablehlo.multiply %29, %cst : tensor<16x48xf32>
    %31 = stablehlo.transpose %arg2, dims = [1, 0] {result_layout = dense<[0, 1]> : tensor<2xindex>, xla_shape = "f32[48,10]{0,1}"} : (tensor<10x48xf32>) -> tensor<48x10xf32>
    %32 = stablehlo.dot_general %30, %31, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x48xf32>, tensor<48x10xf32>) -> tensor<16x10xf32>
    %33 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<10xf32>) -> tensor<16x10xf32>
    %34 = stablehlo.add %32, %33 : tensor<16x10xf32>
    %35 = stablehlo.reduce(%34 init: %cst_4) applies stablehlo.maximum across dimensions = [1] : (tensor<16x10xf32>, tensor<f32>) -> tensor<16xf32>
    %36 = stablehlo.broadcast_in_dim %35, dims = [0] : (tensor<16xf32>) -> tensor<16x10xf32>
    %37 = stablehlo.subtract %34, %36 : tensor<16x10xf32>
    %38 = stablehlo.exponential %37 : tensor<16x10xf32>
    %39 = stablehlo.reduce(%38 init: %cst_6) applies stablehlo.add across dimensions = [1] : (tensor<16x10xf32>, tensor<f32>) -> tensor<16xf32>
    %40 = stablehlo.log %39 : tensor<16xf32>
    %41 = stablehlo.broadcast_in_dim %40, dims = [0] : (tensor<16xf32>) -> tensor<16x10xf32>
    %42 = stablehlo.subtract %37, %41 : tensor<16x10xf32>
    %43 = stablehlo.exponential %42 : tensor<16x10xf32>
    %44 = stablehlo.reduce(%28 init: %cst_6) applies stablehlo.add across dimensions = [1] : (tensor<16x10xf32>, tensor<f32>) -> tensor<16xf32>
    %45 = stablehlo.broadcast_in_dim %44, dims = [0] : (tensor<16xf32>) -> tensor<16x10xf32>
    %46 = stablehlo.multiply %43, %45 : tensor<16x10xf32>
    %47 = stablehlo.subtract %28, %46 : tensor<16x10xf32>
    %48 = stablehlo.dot_general %47, %arg2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x10xf32>, tensor<10x48xf32>) -> tensor<16x48xf32>
    %49 = stablehlo.broadcast_in_dim %48, dims = [0, 1] : (tensor<16x48xf32>) -> tensor<16x48x11x11xf32>
    %50 = stablehlo.broadcast_in_dim %arg11, dims = [] : (tensor<f32>) -> tensor<16x48x11x11xf32>
    %51 = stablehlo.divide %49, %50 : tensor<16x48x11x11xf32>
    %52 = stablehlo.select %12, %51, %cst_2 : tensor<16x48x11x11xi1>, tensor<16x48x11x11xf32>
    %53 = stablehlo.transpose %arg4, dims = [2, 3, 1, 0] {result_layout = dense<[1, 0, 2, 3]> : tensor<4xindex>, xla_shape = "f32[3,3,24,48]{1,0,2,3}"} : (tensor<48x24x3x3xf32>) -> tensor<3x3x24x48xf32>
    %54 = stablehlo.reverse %53, dims = [0, 1] {result_layout = dense<[1, 0, 2, 3]> : tensor<4xindex>, xla_shape = "f32[3,3,24,48]{1,0,2,3}"} : tensor<3x3x24x48xf32>
    %55 = stablehlo.convolution(%52, %54) dim_numbers = [b, f, 0, 1]x[0, 1, o, i]->[b, f, 0, 1], window = {stride = [1, 1], pad = [[2, 2], [2, 2]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<16x48x11x11xf32>, tensor<3x3x24x48xf32>) -> tensor<16x24x13x13xf32>
    %56 = stablehlo.transpose %arg6, dims = [2, 3, 1, 0] {result_layout = dense<[1, 0, 2, 3]> : tensor<4xindex>, xla_shape = "f32[3,3,1,24]{1,0,2,3}"} : (tensor<24x1x3x3xf32>) -> tensor<3x3x1x24xf32>
    %57 = stablehlo.reshape %56 : (tensor<3x3x1x24xf32>) -> tensor<3x3x24x1xf32>
    %58 = stablehlo.reverse %57, dims = [0, 1] : tensor<3x3x24x1xf32>
    %59 = stablehlo.convolution(%55, %58) dim_numbers = [b, f, 0, 1]x[0, 1, o, i]->[b, f, 0, 1], window = {stride = [1, 1], pad = [[2, 2], [2, 2]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 24 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<16x24x13x13xf32>, tensor<3x3x24x1xf32>) -> tensor<16x24x15x15xf32>
    %60 = stablehlo.select %4, %59, %cst_3 : tensor<16x24x15x15xi1>, tensor<16x24x15x15xf32>
    %61 = stablehlo.compare  NE, %17, %cst_1 : (tensor<16x10xf32>, tensor<16x10xf32>) -> tensor<16x10xi1>
    %62 = stablehlo.multiply %18, %42 : tensor<16x10xf32>
    %63 = stablehlo.select %61, %cst_0, %62 : tensor<16x10xi1>, tensor<16x10xf32>
    %64 = stablehlo.multiply %63, %22 : tensor<16x10xf32>
    %65 = stablehlo.reduce(%64 init: %cst_6) applies stablehlo.add across dimensions = [0, 1] : (tensor<16x10xf32>, tensor<f32>) -> tensor<f32>
    %66 = stablehlo.divide %65, %24 : tensor<f32>
    %67 = stablehlo.convolution(%arg9, %60) dim_numbers = [f, b, 0, 1]x[i, o, 0, 1]->[0, 1, b, f], window = {stride = [1, 1], pad = [[0, -1], [0, -1]], lhs_dilate = [1, 1], rhs_dilate = [2, 2], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<16x3x32x32xf32>, tensor<16x24x15x15xf32>) -> tensor<3x3x3x24xf32>
    %68 = stablehlo.transpose %67, dims = [3, 2, 0, 1] {result_layout = dense<[0, 1, 3, 2]> : tensor<4xindex>, xla_shape = "f32[24,3,3,3]{0,1,3,2}"} : (tensor<3x3x3x24xf32>) -> tensor<24x3x3x3xf32>
    %69 = stablehlo.broadcast_in_dim %arg10, dims = [] : (tensor<f32>) -> tensor<24x3x3x3xf32>
    %70 = stablehlo.multiply %68, %69 : tensor<24x3x3x3xf32>
    %71 = stablehlo.add %arg8, %70 : tensor<24x3x3x3xf32>
    %72 = stablehlo.reduce(%60 init: %cst_6) applies stablehlo.add across dimensions = [0, 2, 3] : (tensor<16x24x15x15xf32>, tensor<f32>) -> tensor<24xf32>
    %73 = stablehlo.broadcast_in_dim %arg10, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %74 = stablehlo.multiply %72, %73 : tensor<24xf32>
    %75 = stablehlo.add %arg7, %74 : tensor<24xf32>
    %76 = stablehlo.convolution(%3, %55) dim_numbers = [f, b, 0, 1]x[i, o, 0, 1]->[0, 1, b, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 24 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<16x24x15x15xf32>, tensor<16x24x13x13xf32>) -> tensor<3x3x1x24xf32>
    %77 = stablehlo.transpose %76, dims = [3, 2, 0, 1] {result_layout = dense<[0, 1, 3, 2]> : tensor<4xindex>, xla_shape = "f32[24,1,3,3]{0,1,3,2}"} : (tensor<3x3x1x24xf32>) -> tensor<24x1x3x3xf32>
    %78 = stablehlo.broadcast_in_dim %arg10, dims = [] : (tensor<f32>) -> tensor<24x1x3x3xf32>
    %79 = stablehlo.multiply %77, %78 : tensor<24x1x3x3xf32>
    %80 = stablehlo.add %arg6, %79 : tensor<24x1x3x3xf32>
    %81 = stablehlo.reduce(%55 init: %cst_6) applies stablehlo.add across dimensions = [0, 2, 3] : (tensor<16x24x13x13xf32>, tensor<f32>) -> tensor<24xf32>
    %82 = stablehlo.multiply %81, %73 : tensor<24xf32>
    %83 = stablehlo.add %arg5, %82 : tensor<24xf32>
    %84 = stablehlo.convolution(%7, %52) dim_numbers = [f, b, 0, 1]x[i, o, 0, 1]->[0, 1, b, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<16x24x13x13xf32>, tensor<16x48x11x11xf32>) -> tensor<3x3x24x48xf32>
    %85 = stablehlo.transpose %84, dims = [3, 2, 0, 1] {result_layout = dense<[0, 1, 3, 2]> : tensor<4xindex>, xla_shape = "f32[48,24,3,3]{0,1,3,2}"} : (tensor<3x3x24x48xf32>) -> tensor<48x24x3x3xf32>
    %86 = stablehlo.broadcast_in_dim %arg10, dims = [] : (tensor<f32>) -> tensor<48x24x3x3xf32>
    %87 = stablehlo.multiply %85, %86 : tensor<48x24x3x3xf32>
    %88 = stablehlo.add %arg4, %87 : tensor<48x24x3x3xf32>
    %89 = stablehlo.reduce(%52 init: %cst_6) applies stablehlo.add across dimensions = [0, 2, 3] : (tensor<16x48x11x11xf32>, tensor<f32>) -> tensor<48xf32>
    %90 = stablehlo.broadcast_in_dim %arg10, dims = [] : (tensor<f32>) -> tensor<48xf32>
    %91 = stablehlo.multiply %89, %90 : tensor<48xf32>
    %92 = stablehlo.add %arg3, %91 : tensor<48xf32>
    %93 = stablehlo.transpose %30, dims = [1, 0] {result_layout = dense<[0, 1]> : tensor<2xindex>, xla_shape = "f32[48,16]{0,1}"} : (tensor<16x48xf32>) -> tensor<48x16xf32>
    %94 = stablehlo.dot_general %93, %47, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<48x16xf32>, tensor<16x10xf32>) -> tensor<48x10xf32>
    %95 = stablehlo.transpose %94, dims = [1, 0] {result_layout = dense<[0, 1]> : tensor<2xindex>, xla_shape = "f32[10,48]{0,1}"} : (tensor<48x10xf32>) -> tensor<10x48xf32>
    %96 = stablehlo.broadcast_in_dim %arg10, dims = [] : (tensor<f32>) -> tensor<10x48xf32>
    %97 = stablehlo.multiply %95, %96 : tensor<10x48xf32>
    %98 = stablehlo.add %arg2, %97 : tensor<10x48xf32>
    %99 = stablehlo.reduce(%47 init: %cst_6) applies stablehlo.add across dimensions = [0] : (tensor<16x10xf32>, tensor<f32>) -> tensor<10xf32>
    %100 = stablehlo.broadcast_in_dim %arg10, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %101 = stablehlo.multiply %99, %100 : tensor<10xf32>
    %102 = stablehlo.add %arg1, %101 : tensor<10xf32>
    return %66, %71, %75, %80, %83, %88, %92, %98, %102 : tensor<f32>, tensor<24x3x3x3xf32>, tensor<24xf32>, tensor<24x1x3x3xf32>, tensor<24xf32>, tensor<48x24x3x3xf32>, tensor<48xf32>, tensor<10x48xf32>, tensor<10xf32>
  }
}
